import { brokenStreams } from "./cases/brokenStreams.ts"
import { eventStreams } from "./cases/eventStreams.ts"
import { resumption } from "./cases/resumption.ts"
import { serverRequests } from "./cases/serverRequests.ts"
import { suite } from "./kit/suite.ts"

suite("Event streams", [...eventStreams, ...brokenStreams, ...resumption, ...serverRequests])
