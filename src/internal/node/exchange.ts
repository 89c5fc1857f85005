/**
 * One HTTP exchange, as an undici dispatch handler: no stream, no queue, and no fiber but for an event so large that it
 * takes time to read. It is called as bytes come, and calls back once.
 */
import type { Dispatcher } from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { BudgetExceeded, type ConnectionFailedReason, ProtocolViolation, Unreachable } from "../../errors/McpError.ts"
import * as ByteBudget from "../../services/ByteBudget.ts"
import {
  contentLength,
  type Head,
  type HttpAnswer,
  type HttpRequest,
  isRefusal,
  maxHeaderBlock,
  overBudget,
  type ResponseHeaders
} from "../../services/HttpExchange.ts"
import * as Gather from "./gather.ts"
import * as HeadScanner from "./headScanner.ts"

/**
 * How many 1xx responses may precede the real one.
 */
const maxInformational = 16

/**
 * What is left of a response that nobody wants is read on for so long, and so far, that the socket can be used again;
 * past that, closing it is cheaper.
 */
const drainMillis = 100
const drainBytes = 16 * 1024

/**
 * Ends a request at undici, with the reason that the caller gets.
 */
export class Abort extends Error {
  readonly reason: ConnectionFailedReason | undefined
  constructor(reason?: ConnectionFailedReason) {
    super("the exchange was ended")
    this.reason = reason
  }
}

/**
 * What came of an exchange.
 */
export type Outcome =
  | { readonly _tag: "Answer"; readonly answer: HttpAnswer }
  | { readonly _tag: "Failure"; readonly reason: ConnectionFailedReason }

const LF = 10
const CR = 13

const released: Pick<HttpRequest, "meter" | "onHead"> = {
  meter: ByteBudget.make({ limit: 0 }).open(),
  onHead: () => "none"
}

const noHeaders: ResponseHeaders = Object.create(null) as ResponseHeaders

/**
 * The cause in one word of Node's or undici's, which never quotes a name or an address.
 */
const codeOf = (error: unknown): string => {
  const { code, errors, name } = error as { code?: unknown; errors?: unknown; name?: unknown }
  // Every address was tried, and each has its own error.
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0])
  const word = typeof code === "string" ? code : name
  return typeof word === "string" && /^[A-Za-z0-9_]{1,64}$/.test(word) ? word : "unknown"
}

/**
 * What is known of the response when something goes wrong.
 */
interface Progress {
  readonly isStarted: boolean
  readonly hasHead: boolean
  readonly status: number | undefined
}

const toReason = (error: unknown, { hasHead, isStarted, status }: Progress): ConnectionFailedReason => {
  if (error instanceof Abort && error.reason !== undefined) return error.reason
  const code = codeOf(error)
  if (!hasHead && status === 101) return new ProtocolViolation({ detail: "an upgrade that nobody asked for" })
  const isMalformed = (error as { name?: unknown }).name === "HTTPParserError"
    // The connection ended inside of a response that was to end with it.
    ? !(error as Error).message.includes("Invalid EOF state")
    // Where a length is none, undici says that it was not met.
    : code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" && !hasHead
  if (isMalformed) return new ProtocolViolation({ detail: `malformed HTTP (${code})` })
  if (code === "UND_ERR_HEADERS_OVERFLOW") return new BudgetExceeded({ what: "header block", limit: maxHeaderBlock })
  return new Unreachable({ delivered: isStarted ? "unknown" : "no", detail: code })
}

/**
 * The names and values of a header block that is no HTTP/1 bytes: RFC 9113, section 10.5.1 counts 32 more a field.
 */
const fieldBytes = (raw: unknown): number => {
  if (!Array.isArray(raw)) {
    return Object.entries((raw ?? {}) as Record<string, unknown>).reduce(
      (sum, [name, value]) => sum + name.length + String(value).length + 32,
      0
    )
  }
  return raw.reduce((sum: number, part: Uint8Array | string) => sum + part.length + 16, 0)
}

/**
 * The handler of one request.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /**
   * Set by the client that takes the request, and called to give up a dial that is under way.
   */
  abortDial: ((reason: Abort) => void) | undefined
  /**
   * Whether the connection speaks HTTP/1, so that `onBytes` sees all of this response and of no other.
   */
  isTapped = false
  /**
   * Whether the response has ended, so that its connection can take another request.
   */
  isOver = false

  private request: Pick<HttpRequest, "meter" | "onHead">
  private settle: (outcome: Outcome) => void
  private readonly scanner = HeadScanner.make(maxHeaderBlock)
  private controller: Dispatcher.DispatchController | undefined
  private settled = false
  private informational = 0
  private head: Head | undefined
  private feed: ((chunk: Buffer) => void) | undefined
  private finish: () => string = () => ""
  private drained = 0
  private drainLimit = 0
  private drainTimer: ReturnType<typeof setTimeout> | undefined
  private tell: (() => void) | undefined
  private waiting: Fiber.Fiber<boolean> | undefined
  private ended: (() => void) | undefined

  constructor({ meter, onHead }: HttpRequest, settle: (outcome: Outcome) => void) {
    this.request = { meter, onHead }
    this.settle = settle
  }

  /**
   * The caller no longer wants it. Closes the socket, or gives up the dial.
   */
  cancel(): void {
    this.settled = true
    this.end(new Abort())
  }

  /**
   * Raw bytes of this response. `false` says not to go on.
   */
  onBytes(chunk: Uint8Array): boolean {
    if (this.scanner.feed(chunk)) return true
    if (this.settled) {
      this.end(new Abort())
      return false
    }
    const what = this.head === undefined ? "header block" : "bytes without content"
    this.fail(new BudgetExceeded({ what, limit: maxHeaderBlock }))
    return false
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.settled) controller.abort(new Abort())
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    const isLast = status >= 200
    const size = this.isTapped ? this.scanner.endHead(isLast) : fieldBytes(controller.rawHeaders)
    if (this.settled) return
    const { meter, onHead } = this.request
    const affordable = meter.take(size)
    if (isLast) this.head = { status, headers }
    if (size > maxHeaderBlock) return this.fail(new BudgetExceeded({ what: "header block", limit: maxHeaderBlock }))
    if (!isLast) {
      if (++this.informational <= maxInformational) return affordable ? undefined : this.fail(overBudget(meter))
      return this.fail(new BudgetExceeded({ what: "informational responses", limit: maxInformational }))
    }
    const head: Head = { status, headers }
    const plan = onHead(head)
    if (plan === "none") {
      return affordable || isRefusal(status) ? this.leave(drainBytes) : this.fail(overBudget(meter))
    }
    if (typeof plan === "object") return this.fail(plan)
    if (!affordable || (plan === "text" && (contentLength(headers) ?? 0) > meter.remaining())) {
      return this.fail(overBudget(meter))
    }
    if (plan === "text") this.gather()
    else this.stream(plan)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.scanner.progress(chunk.length)
    if (this.settled) {
      this.drained += chunk.length
      if (!this.request.meter.take(chunk.length) || this.drained > this.drainLimit) this.end(new Abort())
    } else if (this.request.meter.take(chunk.length)) {
      this.feed?.(chunk)
    } else {
      this.fail(overBudget(this.request.meter))
    }
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.whenRead(() => {
      if (!this.settled) {
        const trailers = controller.rawTrailers
        if (Array.isArray(trailers) && trailers.length > 0 && !this.request.meter.take(fieldBytes(trailers))) {
          this.fail(overBudget(this.request.meter))
        } else {
          this.answer(this.finish())
        }
      }
      this.release()
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.whenRead(() => {
      if (!this.settled) {
        this.fail(toReason(error, {
          isStarted: this.controller !== undefined,
          hasHead: this.head !== undefined,
          status: this.scanner.status()
        }))
      }
      this.release()
    })
  }

  /**
   * An idle socket remembers its last exchange, which must not keep what was asked and answered.
   */
  private release(): void {
    clearTimeout(this.drainTimer)
    this.tell?.()
    this.request = released
    this.settle = () => {}
    this.feed = undefined
    this.finish = () => ""
    this.abortDial = undefined
    this.ended = undefined
  }

  private gather(): void {
    const body = Gather.make()
    this.feed = body.push
    this.finish = () => Gather.decode(body.take())
  }

  /**
   * Hands text on by whole lines, since nothing happens in an event stream before a line ends: what a line costs until
   * then is its bytes.
   */
  private stream(take: (text: string) => boolean | Effect.Effect<boolean>): void {
    const decoder = new TextDecoder()
    const lines = Gather.make()
    let hasLine = false
    const pass = (): void => {
      if (!hasLine || this.waiting !== undefined) return
      hasLine = false
      const enough = take(decoder.decode(lines.take(), { stream: true }))
      if (typeof enough !== "boolean") this.wait(enough, pass)
      else if (enough) this.leave(0)
    }
    this.feed = (chunk) => {
      lines.push(chunk)
      hasLine ||= chunk.includes(LF) || chunk.includes(CR)
      pass()
    }
  }

  /**
   * Reads no further until it is known whether more is wanted. What comes all the same, be it the end, has to wait.
   */
  private wait(enough: Effect.Effect<boolean>, goOn: () => void): void {
    this.controller?.pause()
    this.waiting = Effect.runFork(enough)
    this.waiting.addObserver((exit) => {
      this.waiting = undefined
      const isLast = Exit.isSuccess(exit) && exit.value
      if (!this.settled && !isLast) goOn()
      if (this.waiting !== undefined) return
      if (this.ended === undefined) return this.readOn(isLast)
      if (!this.settled && isLast) this.leave(0)
      this.ended()
    })
  }

  /**
   * In a turn of its own, since this can be called while a response is being parsed, be it of another connection, and
   * undici throws where two parsers are at work.
   */
  private readOn(isLast: boolean): void {
    queueMicrotask(() => {
      this.controller?.resume()
      // The end of the response has most often been received already, and was waiting to be read.
      if (!this.settled && isLast) this.leave(0)
    })
  }

  private whenRead(ended: () => void): void {
    this.isOver = true
    if (this.waiting === undefined) ended()
    else this.ended = ended
  }

  private answer(text: string): void {
    this.settled = true
    const { headers, status } = this.head!
    this.settle({ _tag: "Answer", answer: { status, headers, text } })
  }

  /**
   * All that is wanted has come. What is left of a short response comes in the same turn, most often: the caller is told
   * after it, and finds the connection free.
   */
  private leave(drainLimit: number): void {
    this.settled = true
    this.drainLimit = drainLimit
    this.drainTimer = setTimeout(() => this.end(new Abort()), drainMillis)
    this.drainTimer.unref()
    this.tell = () => {
      this.tell = undefined
      this.answer("")
    }
    setImmediate(() => this.tell?.())
  }

  /**
   * 401 and 403 are answers, however the response goes on.
   */
  private fail(reason: ConnectionFailedReason): void {
    this.settled = true
    const status = this.head?.status ?? this.scanner.status()
    this.settle(
      isRefusal(status)
        ? { _tag: "Answer", answer: { status, headers: this.head?.headers ?? noHeaders, text: "" } }
        : { _tag: "Failure", reason }
    )
    this.end(new Abort(reason))
  }

  private end(abort: Abort): void {
    clearTimeout(this.drainTimer)
    this.waiting?.interruptUnsafe()
    if (this.controller !== undefined) this.controller.abort(abort)
    else this.abortDial?.(abort)
  }
}
