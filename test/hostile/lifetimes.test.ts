import { closing } from "./cases/closing.ts"
import { cases } from "./cases/index.ts"
import { suite } from "./kit/suite.ts"

suite("Lifetimes", cases.Lifetimes, closing)
