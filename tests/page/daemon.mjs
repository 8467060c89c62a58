// The real daemon, as a process on a free port of loopback, with a data folder of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { binary } from './site.mjs';

/** A source's pace, well below what its reports are good for. */
const HEARTBEAT_MS = 500;

export class Daemon {
  /** @param {string[]} [flags] */
  static async start(flags = []) {
    const daemon = new Daemon();
    daemon.flags = flags;
    daemon.data = mkdtempSync(join(tmpdir(), 'greenlight-page-'));
    await daemon.run('127.0.0.1:0');
    return daemon;
  }

  /** @param {string} bind */
  async run(bind) {
    this.process = spawn(binary, ['serve', '--bind', bind, '--data', this.data, '--drain', '1s', ...this.flags], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const text of this.process.stdout) {
      const url = /listening on (http:\S+)/.exec(String(text))?.[1];
      if (url) {
        this.url = url;
        break;
      }
    }
    // It listens before it serves.
    for (;;) {
      const answer = await fetch(`${this.url}/app`).catch(() => null);
      if (answer?.ok) return;
    }
  }

  /** A full report of a source. */
  async publish(source, instances, good_for_secs = 3600) {
    const answer = await fetch(`${this.url}/sources/${source}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${readFileSync(join(this.data, 'token'), 'utf8').trim()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ instances, good_for_secs }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** The same report again and again, the first of them already made, until it is told to stop. */
  async keep_publishing(source, instances, good_for_secs) {
    await this.publish(source, instances, good_for_secs);
    let stopped = false;
    const ended = (async () => {
      while (!stopped) {
        await setTimeout(HEARTBEAT_MS);
        await this.publish(source, instances, good_for_secs);
      }
    })();
    const stop = async () => {
      stopped = true;
      await ended;
    };
    return { stop };
  }

  async app(query = '') {
    return (await fetch(`${this.url}/app${query}`)).json();
  }

  async kill(signal = 'SIGKILL') {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    await ended;
  }

  /** Again at the same address, with what it remembers. */
  async restart() {
    await this.run(new URL(this.url).host);
  }

  async end() {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }
}

export function serving(name, more = {}) {
  return { name, phase: 'serving', serving_sha: 'a1b2c3d', last_green: 'a1b2c3d', ...more };
}

export function degraded(name, more = {}) {
  return { name, phase: 'building', last_green: '9f6e4d5', last_red_sha: 'c0ffee1', last_red_reason: 'cannot change to worktree', ...more };
}
