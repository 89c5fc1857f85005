import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { packageVersion } from "../src/internal/packageVersion.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

describe("the package", () => {
  it("tells servers its own version", () => {
    assert.strictEqual(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version, packageVersion)
  })

  it("has no link in its documents that leads nowhere", () => {
    const documents = globSync("{*.md,{docs,bench,examples,test}/**/*.md}", { cwd: root })
    assert.include(documents, "README.md")
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, target = ""]) => join(dirname(document), target))
        .filter((target) => !existsSync(join(root, target)))
    )
    assert.deepStrictEqual(dead, [])
  })
})
