import { cases } from "./cases/index.ts"
import { proxies } from "./cases/proxies.ts"
import { suite } from "./kit/suite.ts"

suite("Where it may connect", cases["Where it may connect"], proxies)
