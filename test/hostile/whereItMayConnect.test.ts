import { proxies } from "./cases/proxies.ts"
import { whereItMayConnect } from "./cases/whereItMayConnect.ts"
import { suite } from "./kit/suite.ts"

suite("Where it may connect", whereItMayConnect, proxies)
