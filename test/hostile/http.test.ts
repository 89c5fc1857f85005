import { httpAnswers } from "./cases/httpAnswers.ts"
import { httpBodies } from "./cases/httpBodies.ts"
import { httpErrors } from "./cases/httpErrors.ts"
import { httpFraming } from "./cases/httpFraming.ts"
import { httpRedirects } from "./cases/httpRedirects.ts"
import { httpRefusals } from "./cases/httpRefusals.ts"
import { httpSessions } from "./cases/httpSessions.ts"
import { suite } from "./kit/suite.ts"

suite("HTTP", [
  ...httpFraming,
  ...httpBodies,
  ...httpAnswers,
  ...httpErrors,
  ...httpSessions,
  ...httpRedirects,
  ...httpRefusals
])
