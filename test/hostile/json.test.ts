import { inputRounds } from "./cases/inputRounds.ts"
import { json } from "./cases/json.ts"
import { jsonRpc } from "./cases/jsonRpc.ts"
import { jsonText } from "./cases/jsonText.ts"
import { suite } from "./kit/suite.ts"

suite("JSON and JSON-RPC", [...json, ...jsonText, ...jsonRpc, ...inputRounds])
