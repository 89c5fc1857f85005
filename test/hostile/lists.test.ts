import { cursors } from "./cases/cursors.ts"
import { lists } from "./cases/lists.ts"
import { contents } from "./cases/results.ts"
import { schemas } from "./cases/schemas.ts"
import { words } from "./cases/words.ts"
import { suite } from "./kit/suite.ts"

suite("Lists and results", [...cursors, ...lists, ...schemas, ...contents, ...words])
