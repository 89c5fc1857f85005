import { closing } from "./cases/closing.ts"
import { lifetimes } from "./cases/lifetimes.ts"
import { suite } from "./kit/suite.ts"

suite("Lifetimes", lifetimes, closing)
