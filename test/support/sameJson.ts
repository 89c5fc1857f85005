/**
 * Whether two values are the same JSON, of any depth: assertions see neither the order of keys nor an own `__proto__`,
 * and have no stack for a thousand levels.
 */

const attributes = (own: PropertyDescriptor): string => `${own.enumerable} ${own.writable} ${own.configurable}`

export const sameJson = (one: unknown, other: unknown): boolean => {
  const pairs: Array<readonly [unknown, unknown]> = [[one, other]]
  while (pairs.length > 0) {
    const [a, b] = pairs.pop()!
    if (Object.is(a, b)) continue
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
    const keys = Reflect.ownKeys(a)
    const others = Reflect.ownKeys(b)
    if (keys.length !== others.length) return false
    for (const [i, key] of keys.entries()) {
      if (key !== others[i]) return false
      const own = Object.getOwnPropertyDescriptor(a, key)!
      const ownOther = Object.getOwnPropertyDescriptor(b, key)!
      if (attributes(own) !== attributes(ownOther)) return false
      pairs.push([own.value, ownOther.value])
    }
  }
  return true
}
