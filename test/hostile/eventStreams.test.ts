import { cases } from "./cases/index.ts"
import { suite } from "./kit/suite.ts"

suite("Event streams", cases["Event streams"])
