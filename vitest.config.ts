import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Tests talk to real sockets with real deadlines; two files at once keep a small machine from adding its own delays.
    maxWorkers: 2,
    testTimeout: 20_000
  }
})
