import { cases } from "./cases/index.ts"
import { suite } from "./kit/suite.ts"

suite("Lists and results", cases["Lists and results"])
