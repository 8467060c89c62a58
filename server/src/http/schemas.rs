//! The shapes of what goes over the wire, for `/openapi.json`: one table of fields for each, put together from those
//! that several share.

mod shapes;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    ArrayBuilder, ComponentsBuilder, ObjectBuilder, OneOfBuilder, Ref, Schema, SchemaType, Type,
};

use greenlight_core::MAX_INTEGER;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A string.
    Text,
    /// true or false.
    Flag,
    /// A whole number from 0 to 2^53-1.
    Count,
    /// A whole number that may be negative.
    Signed,
    /// For how long a report is good: a number of seconds from 1, or a word.
    GoodFor,
    /// One of these words.
    Word(&'static [&'static str]),
    /// That, or null.
    OrNull(&'static Kind),
    /// Any number of those.
    List(&'static Kind),
    /// A shape by its name.
    Shape(&'static str),
}

/// One key of a shape.
#[derive(Clone, Copy, Debug)]
struct Field {
    name: &'static str,
    kind: Kind,
    presence: Presence,
    meaning: &'static str,
}

/// Whether a key can be counted on.
#[derive(Clone, Copy, Debug)]
enum Presence {
    Always,
    Sometimes,
}

/// A key that is always there.
const fn always(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field { name, kind, presence: Presence::Always, meaning }
}

/// A key that is left out where it says nothing.
const fn sometimes(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
    Field { name, kind, presence: Presence::Sometimes, meaning }
}

/// How the fields of a shape are meant.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// As the tables say.
    Answered,
    /// As a source may write them: what an answer always has may be left out or null, for the field's own zero.
    Reported,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// An object with the fields of all these tables.
    Object(Side, &'static [&'static [Field]]),
    /// One of these objects.
    OneOf(&'static [&'static [Field]]),
}

/// A reference to a shape.
pub(super) fn reference(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// All shapes, under their names.
pub(super) fn add_to(mut components: ComponentsBuilder) -> ComponentsBuilder {
    for (name, meaning, shape) in shapes::ALL {
        let schema: Schema = match shape {
            Shape::Object(side, tables) => {
                object(*side, tables.iter().copied().flatten()).description(Some(*meaning)).build().into()
            }
            Shape::OneOf(variants) => {
                let one_of = variants.iter().fold(OneOfBuilder::new(), |one_of, fields| {
                    one_of.item(object(Side::Answered, fields.iter()).build())
                });
                one_of.description(Some(*meaning)).build().into()
            }
        };
        components = components.schema(*name, schema);
    }
    components
}

fn object<'a>(side: Side, fields: impl Iterator<Item = &'a Field>) -> ObjectBuilder {
    fields.fold(ObjectBuilder::new().schema_type(Type::Object), |object, field| {
        let Field { name, kind, presence, meaning } = field;
        match (side, presence) {
            (Side::Answered, Presence::Always) => object.property(*name, schema(*kind, meaning)).required(*name),
            (Side::Answered | Side::Reported, Presence::Sometimes) => object.property(*name, schema(*kind, meaning)),
            (Side::Reported, Presence::Always) => object.property(*name, or_null(*kind, meaning)),
        }
    })
}

fn schema(kind: Kind, meaning: &str) -> RefOr<Schema> {
    match kind {
        Kind::Text => plain(Type::String, meaning).into(),
        Kind::Flag => plain(Type::Boolean, meaning).into(),
        Kind::Count => count(Type::Integer, meaning).into(),
        Kind::Signed => plain(Type::Integer, meaning).into(),
        Kind::GoodFor => good_for(meaning).into(),
        Kind::Word(words) => plain(Type::String, meaning).enum_values(Some(words.iter().copied())).into(),
        Kind::OrNull(kind) => or_null(*kind, meaning),
        Kind::List(kind) => ArrayBuilder::new().items(schema(*kind, "")).description(said(meaning)).into(),
        Kind::Shape(name) => reference(name),
    }
}

fn or_null(kind: Kind, meaning: &str) -> RefOr<Schema> {
    let with_null = |kind: Type| SchemaType::from_iter([kind, Type::Null]);
    match kind {
        Kind::Text => plain(with_null(Type::String), meaning).into(),
        Kind::Flag => plain(with_null(Type::Boolean), meaning).into(),
        Kind::Count => count(with_null(Type::Integer), meaning).into(),
        Kind::Signed => plain(with_null(Type::Integer), meaning).into(),
        Kind::GoodFor => good_for(meaning).item(plain(Type::Null, "")).into(),
        Kind::List(kind) => {
            let list = ArrayBuilder::new().items(schema(*kind, "")).description(said(meaning));
            list.schema_type(with_null(Type::Array)).into()
        }
        Kind::OrNull(kind) => or_null(*kind, meaning),
        Kind::Word(_) | Kind::Shape(_) => {
            OneOfBuilder::new().item(schema(kind, "")).item(plain(Type::Null, "")).description(said(meaning)).into()
        }
    }
}

fn plain(kind: impl Into<SchemaType>, meaning: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(said(meaning))
}

fn count(kind: impl Into<SchemaType>, meaning: &str) -> ObjectBuilder {
    plain(kind, meaning).minimum(Some(0_u64)).maximum(Some(MAX_INTEGER))
}

fn good_for(meaning: &str) -> OneOfBuilder {
    OneOfBuilder::new()
        .description(said(meaning))
        .item(plain(Type::Integer, "seconds").minimum(Some(1_u64)).maximum(Some(MAX_INTEGER)))
        .item(plain(Type::String, "").enum_values(Some(["until_restart", "forever"])))
}

fn said(meaning: &str) -> Option<&str> {
    (!meaning.is_empty()).then_some(meaning)
}
