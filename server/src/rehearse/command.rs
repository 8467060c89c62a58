//! A command as words: split as a shell would, and nothing else that a shell does.

/// The words of a command. Quotes hold words together, and a backslash takes the next character as it is, as in sh;
/// variables, patterns and pipes are not known.
///
/// # Errors
/// In words, what is wrong with it.
pub(super) fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            blank if blank.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(inner) => word.push(inner),
                        None => return Err(format!("{command:?} has a ' that is not closed")),
                    }
                }
            }
            '"' => double_quoted(command, &mut characters, word.get_or_insert_default())?,
            '\\' => match characters.next() {
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err(format!("{command:?} ends in a backslash")),
            },
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("is empty: write the command that starts the server".into()) } else { Ok(words) }
}

fn double_quoted(command: &str, characters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    loop {
        match characters.next() {
            Some('"') => return Ok(()),
            Some('\\') => match characters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => return Err(format!("{command:?} ends in a backslash")),
            },
            Some(inner) => word.push(inner),
            None => return Err(format!("{command:?} has a \" that is not closed")),
        }
    }
}

/// A text with the two ports put in. `${port}` is left as it is: a variable of the shell's.
pub(super) fn with_ports(text: &str, port: u16, ready_port: u16) -> String {
    let put = |part: &str| part.replace("{ready_port}", &ready_port.to_string()).replace("{port}", &port.to_string());
    text.split("${").map(put).collect::<Vec<_>>().join("${")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_sh() {
        for (command, words) in [
            ("serve --port 80", vec!["serve", "--port", "80"]),
            ("  a\t b\n", vec!["a", "b"]),
            (r#"a 'b c' "d e" f\ g"#, vec!["a", "b c", "d e", "f g"]),
            (r#"a '' "" b'c'"d""#, vec!["a", "", "", "bcd"]),
            (r#""a\"b\\c\n" '\'"#, vec![r#"a"b\c\n"#, r"\"]),
            ("a $HOME | b", vec!["a", "$HOME", "|", "b"]),
        ] {
            assert_eq!(split(command).unwrap(), words);
        }
    }

    #[test]
    fn what_is_no_command_is_refused_in_words() {
        for (command, why) in [
            ("", "is empty"),
            ("  ", "is empty"),
            ("a 'b", "not closed"),
            ("a \"b", "not closed"),
            ("a\\", "backslash"),
        ] {
            assert!(split(command).unwrap_err().contains(why), "{command}");
        }
    }

    #[test]
    fn both_ports_are_put_in_everywhere() {
        assert_eq!(with_ports("-p {port} -r {ready_port} {port}", 1, 2), "-p 1 -r 2 1");
    }

    #[test]
    fn a_variable_of_the_shell_is_left_to_it() {
        assert_eq!(
            with_ports("port={port}; serve ${port} ${ready_port} $port {ready_port}", 1, 2),
            "port=1; serve ${port} ${ready_port} $port 2"
        );
        assert_eq!(with_ports("serve ${PORT:-{port}}", 1, 2), "serve ${PORT:-1}");
    }
}
