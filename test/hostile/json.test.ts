import { cases } from "./cases/index.ts"
import { suite } from "./kit/suite.ts"

suite("JSON and JSON-RPC", cases["JSON and JSON-RPC"])
