import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.mjs',
  outputDir: '../.work/page-results',
  // Two cores are enough for two browsers and their daemons.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // A browser that a busy machine starves is tried again, and told of as flaky; what fails three times fails.
  retries: 2,
  timeout: 120_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: { viewport: { width: 1280, height: 900 }, timezoneId: 'Europe/Berlin', locale: 'en-GB' },
  projects: [
    { name: 'chromium', use: { browserName: 'chromium', launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' } } },
    { name: 'firefox', use: { browserName: 'firefox', channel: 'moz-firefox', launchOptions: { executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr' } } },
  ],
});
