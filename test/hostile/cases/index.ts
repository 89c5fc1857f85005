/**
 * All cases over HTTP, by section of the catalogue.
 */
import type { Section } from "../kit/catalogue.ts"
import type { Case } from "../kit/suite.ts"
import { brokenStreams } from "./brokenStreams.ts"
import { cursors } from "./cursors.ts"
import { eventStreams } from "./eventStreams.ts"
import { httpAnswers } from "./httpAnswers.ts"
import { httpBodies } from "./httpBodies.ts"
import { httpErrors } from "./httpErrors.ts"
import { httpFraming } from "./httpFraming.ts"
import { httpRedirects } from "./httpRedirects.ts"
import { httpRefusals } from "./httpRefusals.ts"
import { httpSessions } from "./httpSessions.ts"
import { inputRounds } from "./inputRounds.ts"
import { json } from "./json.ts"
import { jsonRpc } from "./jsonRpc.ts"
import { jsonText } from "./jsonText.ts"
import { lifetimes } from "./lifetimes.ts"
import { lists } from "./lists.ts"
import { contents } from "./results.ts"
import { resumption } from "./resumption.ts"
import { schemas } from "./schemas.ts"
import { serverRequests } from "./serverRequests.ts"
import { whereItMayConnect } from "./whereItMayConnect.ts"
import { words } from "./words.ts"

export const cases: Readonly<Record<Exclude<Section, "stdio">, ReadonlyArray<Case>>> = {
  "Event streams": [...eventStreams, ...brokenStreams, ...resumption, ...serverRequests],
  HTTP: [
    ...httpFraming,
    ...httpBodies,
    ...httpAnswers,
    ...httpErrors,
    ...httpSessions,
    ...httpRedirects,
    ...httpRefusals
  ],
  "Where it may connect": whereItMayConnect,
  "JSON and JSON-RPC": [...json, ...jsonText, ...jsonRpc, ...inputRounds],
  "Lists and results": [...cursors, ...lists, ...schemas, ...contents, ...words],
  Lifetimes: lifetimes
}
