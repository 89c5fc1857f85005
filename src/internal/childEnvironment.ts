/**
 * What the process of a server sees of our environment: next to nothing by default, since the environment is where
 * applications keep their secrets.
 */
import type * as Redacted from "effect/Redacted"

/**
 * Names and values.
 */
export type Environment = Readonly<Record<string, string | Redacted.Redacted | undefined>>

const posix = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

const windows = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE"
]

/**
 * Ours, of which some is inherited, and what is given, which wins.
 */
export const make = (
  ours: Readonly<Record<string, string | undefined>>,
  isWindows: boolean,
  given: Environment | undefined,
  inherit: boolean | ReadonlyArray<string> | undefined
): Record<string, string | Redacted.Redacted> => {
  const more = typeof inherit === "object" ? inherit : []
  const names = inherit === true ? Object.keys(ours) : [...isWindows ? windows : posix, ...more]
  const entries: Array<[string, string | Redacted.Redacted | undefined]> = [
    ...names.map((name): [string, string | undefined] => [name, ours[name]]),
    ...Object.entries(given ?? {})
  ]
  const environment: Record<string, string | Redacted.Redacted> = Object.create(null)
  for (const [name, value] of entries) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  return environment
}
