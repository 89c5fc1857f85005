import { assert, describe, it } from "@effect/vitest"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidInput } from "../src/errors/McpError.ts"
import * as EgressGuard from "../src/services/EgressGuard.ts"

const seeded = (runs: number) => ({ arbitrary: { runs, seed: 20260728 } })

const url = (policy: EgressGuard.Policy, text: string): boolean =>
  Result.isSuccess(EgressGuard.fromPolicy(policy).vetUrl(new URL(text)))

const address = (policy: EgressGuard.Policy, text: string, host = "mcp.example"): boolean =>
  Result.isSuccess(EgressGuard.fromPolicy(policy).vetAddress(host, text))

/**
 * Refused by `standard` and by `publicOnly`, as the host of a URL.
 */
const forbidden = [
  // Loopback.
  "127.0.0.1",
  "127.0.0.0",
  "127.255.255.255",
  "127.1",
  "127.0.1",
  "127.0.0.1.",
  "2130706433",
  "0x7f000001",
  "0X7F000001",
  "0x7f.1",
  "0x7f.0x0.0x0.0x1",
  "017700000001",
  "0177.0.0.1",
  "0177.1",
  "127.0x0.00.1",
  "１２７.0.0.1",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "127.0.0．1",
  "%31%32%37.0.0.1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::0.0.0.1]",
  // Names of this host.
  "localhost",
  "localhost.",
  "LOCALHOST",
  "LocalHost.",
  "a.localhost",
  "a.localhost.",
  "A.B.LocalHost",
  "ⓛocalhost",
  "loc%61lhost",
  "localhost。",
  // Nobody.
  "0.0.0.0",
  "0",
  "0x0",
  "00000000000",
  "0.0.0.1",
  "0.255.255.255",
  "[::]",
  "[0:0:0:0:0:0:0:0]",
  "[::2]",
  // Link-local and metadata services.
  "169.254.0.0",
  "169.254.169.254",
  "169.254.170.2",
  "169.254.255.255",
  "169.254.43518",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "[fe80::1]",
  "[FE80::a9fe:a9fe]",
  "[febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff]",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "100.100.100.200",
  "0x646464c8",
  "192.0.0.192",
  "168.63.129.16",
  // Many.
  "224.0.0.1",
  "239.255.255.255",
  "0xe0000001",
  "255.255.255.255",
  "4294967295",
  "[ff02::1]",
  "[ff0e::1]",
  // IPv4 inside IPv6: mapped, compatible, translated.
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:7f00:0001]",
  "[::ffff:0.0.0.0]",
  "[::ffff:169.254.169.254]",
  "[::ffff:100.100.100.200]",
  "[::ffff:224.0.0.1]",
  "[::127.0.0.1]",
  "[::a9fe:a9fe]",
  "[::ffff:0:127.0.0.1]",
  "[::ffff:0:a9fe:a9fe]",
  // NAT64, with the well-known prefix and with the local one at /48, /56, /64 and /96.
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b::0.0.0.0]",
  "[64:ff9b:1:7f00:0:100::]",
  "[64:ff9b:1:a9fe:a9:fe00::]",
  "[64:ff9b:1:ff7f:0:1::]",
  "[64:ff9b:1:ffff:7f:0:100:0]",
  "[64:ff9b:1::127.0.0.1]",
  "[64:ff9b:1:808:8:808:a9fe:a9fe]",
  // 6to4, Teredo (server, and client inverted), ISATAP (universal bit clear and set).
  "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::1]",
  "[2002:e000:1::]",
  "[2001:0:7f00:1::]",
  "[2001:0:a9fe:a9fe::f7f7:f7f7]",
  "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
  "[2001:0:4136:e378:8000:63bf:5601:5601]",
  "[2001:db8::5efe:127.0.0.1]",
  "[2001:db8::200:5efe:127.0.0.1]",
  "[2606:4700::5efe:a9fe:a9fe]",
  "[fd00::5efe:7f00:1]"
]

/**
 * Refused by `publicOnly` alone.
 */
const notPublic = [
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.168.255.255",
  "167772161",
  "100.64.0.1",
  "100.127.255.255",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "240.0.0.1",
  "255.255.255.254",
  "[fc00::1]",
  "[fd12:3456:789a::1]",
  "[fec0::1]",
  "[100::1]",
  "[2001:2::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[4000::1]",
  "[::ffff:10.0.0.1]",
  "[::ffff:100.64.0.1]",
  "[::ffff:0:10.0.0.1]",
  "[::10.0.0.1]",
  "[64:ff9b::10.0.0.1]",
  "[64:ff9b::192.168.0.1]",
  "[2002:a00:1::]",
  "[2002:c0a8:1::1]",
  "[2606:4700::5efe:10.0.0.1]",
  "[2001:0:a00:1::f7f7:f7f7]"
]

const publicHosts = [
  "mcp.example",
  "mcp.example.",
  "notlocalhost",
  "localhost.example",
  "1.0.0.0",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "[2606:4700::1]",
  "[2a00::1]",
  "[::ffff:8.8.8.8]",
  "[64:ff9b::8.8.8.8]",
  "[2002:808:808::1]",
  "[2606:4700::5efe:8.8.8.8]"
]

/**
 * The hosts of a table that are addresses, in the spelling of a resolver.
 */
const literals = (hosts: ReadonlyArray<string>): ReadonlyArray<string> =>
  hosts.flatMap((host) => {
    const { hostname } = new URL(`http://${host}/`)
    const bare = hostname.replace(/^\[|\]$/g, "")
    return Result.isSuccess(NetAddress.ipFromString(bare)) ? [bare] : []
  })

describe("standard", () => {
  it.each(forbidden)("refuses the URL host %s", (host) => {
    assert.isFalse(url(EgressGuard.standard, `http://${host}/mcp`))
    assert.isFalse(url(EgressGuard.standard, `https://${host}:8443/mcp`))
  })

  it.each([...new Set(literals(forbidden))])("refuses the address %s", (literal) => {
    assert.isFalse(address(EgressGuard.standard, literal))
    assert.isFalse(address(EgressGuard.standard, literal.toUpperCase()))
  })

  it.each([...notPublic, ...publicHosts])("allows %s", (host) => {
    assert.isTrue(url(EgressGuard.standard, `https://${host}/mcp`))
    for (const literal of literals([host])) assert.isTrue(address(EgressGuard.standard, literal))
  })

  it.each([
    // EKS Pod Identity, Oracle, Scaleway, Akamai.
    "fd00:ec2::23",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd00:a9fe:a9fe::1"
  ])("refuses the metadata service %s, which is no link-local address", (literal) => {
    assert.isFalse(url(EgressGuard.standard, `http://[${literal}]/`))
    assert.isFalse(address(EgressGuard.standard, literal))
  })

  it.each(["ftp://mcp.example/", "file:///etc/passwd", "javascript:alert(1)", "data:,x", "ws://mcp.example/"])(
    "refuses the scheme of %s",
    (text) => {
      assert.isFalse(url(EgressGuard.standard, text))
    }
  )

  it.each([
    "http://user@mcp.example/",
    "http://:pass@mcp.example/",
    "https://user:pass@8.8.8.8/",
    "http://u@127.0.0.1/"
  ])(
    "refuses userinfo: %s",
    (text) => {
      assert.isFalse(url(EgressGuard.standard, text))
    }
  )

  it.each(["fe80::1%eth0", "FE80::1%1", "::1%lo", "[::1]", "::FFFF:127.0.0.1"])(
    "refuses the resolver's spelling %s",
    (literal) => {
      assert.isFalse(address(EgressGuard.standard, literal))
    }
  )

  it("refuses names of this host whatever they resolve to", () => {
    for (const host of ["localhost", "localhost.", "LOCALHOST", "a.localhost", "a.localhost."]) {
      assert.isFalse(address(EgressGuard.standard, "8.8.8.8", host))
    }
  })
})

describe("publicOnly", () => {
  it.each([...forbidden, ...notPublic])("refuses %s", (host) => {
    assert.isFalse(url(EgressGuard.publicOnly, `https://${host}/mcp`))
    for (const literal of literals([host])) assert.isFalse(address(EgressGuard.publicOnly, literal))
  })

  it.each(publicHosts)("allows %s", (host) => {
    assert.isTrue(url(EgressGuard.publicOnly, `https://${host}/mcp`))
    for (const literal of literals([host])) assert.isTrue(address(EgressGuard.publicOnly, literal))
  })
})

describe("allowLoopback", () => {
  it.each(["127.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "a.localhost", "10.0.0.1", "8.8.8.8"])(
    "allows %s",
    (host) => {
      assert.isTrue(url(EgressGuard.allowLoopback, `http://${host}:3000/mcp`))
      for (const literal of literals([host])) assert.isTrue(address(EgressGuard.allowLoopback, literal, "localhost"))
    }
  )

  it.each(["0.0.0.0", "[::]", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "224.0.0.1"])(
    "refuses %s as standard does",
    (host) => {
      assert.isFalse(url(EgressGuard.allowLoopback, `http://${host}/`))
      for (const literal of literals([host])) assert.isFalse(address(EgressGuard.allowLoopback, literal, "localhost"))
    }
  )
})

describe("unrestricted", () => {
  it.each([...forbidden, ...notPublic, ...publicHosts])("allows %s", (host) => {
    assert.isTrue(url(EgressGuard.unrestricted, `http://${host}/`))
    for (const literal of literals([host])) assert.isTrue(address(EgressGuard.unrestricted, literal))
  })

  it.each(["ftp://mcp.example/", "file:///etc/passwd", "http://user@mcp.example/"])("refuses %s", (text) => {
    assert.isFalse(url(EgressGuard.unrestricted, text))
  })
})

describe("what is no address", () => {
  it.each([
    "",
    "mcp.example",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "1.2.3.4.5",
    "256.0.0.1",
    ":::",
    "1::2::3"
  ])(
    "%j is refused under every policy",
    (text) => {
      const { allowLoopback, publicOnly, standard, unrestricted } = EgressGuard
      for (const policy of [standard, publicOnly, allowLoopback, unrestricted]) assert.isFalse(address(policy, text))
    }
  )
})

const Octet = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
// Half of what is drawn begins as something forbidden does.
const First = Schema.Literals([0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 239, 255])
const FirstOctet = Schema.Union([First, Octet])
const Four = Schema.Tuple([FirstOctet, Octet, Octet, Octet])

const hex = (...octets: ReadonlyArray<number>): string =>
  octets.map((octet) => octet.toString(16).padStart(2, "0")).join("").replace(/....(?=.)/g, "$&:")

/**
 * Every way in which an IPv6 address carries an IPv4 one, with public addresses where a second one stands.
 */
const carriers = (a: number, b: number, c: number, d: number): Readonly<Record<string, string>> => ({
  mapped: `::ffff:${a}.${b}.${c}.${d}`,
  compatible: `::${hex(a, b, c, d)}`,
  translated: `::ffff:0:${hex(a, b, c, d)}`,
  nat64: `64:ff9b::${hex(a, b, c, d)}`,
  nat64at48: `64:ff9b:1:${hex(a, b, 0, c, d, 8, 8, 8, 8, 8)}`,
  nat64at56: `64:ff9b:1:${hex(8, a, 0, b, c, d, 8, 8, 8, 8)}`,
  nat64at64: `64:ff9b:1:${hex(8, 8, 0, a, b, c, d, 8, 8, 8)}`,
  nat64at96: `64:ff9b:1:${hex(8, 8, 0, 8, 8, 8, a, b, c, d)}`,
  "6to4": `2002:${hex(a, b, c, d)}::1`,
  "Teredo server": `2001:0:${hex(a, b, c, d)}::f7f7:f7f7`,
  "Teredo client": `2001:0:808:808::${hex(a ^ 255, b ^ 255, c ^ 255, d ^ 255)}`,
  ISATAP: `2606:4700::5efe:${hex(a, b, c, d)}`,
  "ISATAP, universal": `2606:4700::200:5efe:${hex(a, b, c, d)}`
})

describe("IPv4 in every spelling", () => {
  it.prop("is judged alike as numbers of any base and length", [Four], ([[a, b, c, d]]) => {
    const dotted = `${a}.${b}.${c}.${d}`
    const whole = ((a * 256 + b) * 256 + c) * 256 + d
    const spellings = [
      String(whole),
      `0x${whole.toString(16)}`,
      `0${whole.toString(8)}`,
      `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`,
      `${a}.${(b * 256 + c) * 256 + d}`,
      `${a}.${b}.${c * 256 + d}`
    ]
    for (const policy of [EgressGuard.standard, EgressGuard.publicOnly]) {
      const verdict = address(policy, dotted)
      for (const spelling of spellings) assert.strictEqual(url(policy, `http://${spelling}/`), verdict, spelling)
    }
  }, seeded(300))

  it.prop("is refused inside IPv6 wherever it is refused by itself", [Four], ([[a, b, c, d]]) => {
    for (const policy of [EgressGuard.standard, EgressGuard.publicOnly]) {
      const allowed = address(policy, `${a}.${b}.${c}.${d}`)
      const { mapped, ...wrapped } = carriers(a, b, c, d)
      assert.strictEqual(address(policy, mapped!), allowed, mapped)
      for (const [kind, spelling] of Object.entries(wrapped)) {
        assert.isTrue(allowed || !address(policy, spelling), `${kind} ${spelling}`)
        assert.isTrue(allowed || !url(policy, `http://[${spelling}]/`), `${kind} ${spelling}`)
      }
    }
  }, seeded(300))
})

interface Rule {
  readonly options: EgressGuard.Options
  readonly allows: ReadonlyArray<string>
  readonly refuses: ReadonlyArray<string>
}

/**
 * What a policy says of URLs; literal addresses are asked about at the dial as well.
 */
const rules: Readonly<Record<string, Rule>> = {
  "nothing said is standard": {
    options: {},
    allows: ["https://mcp.example", "http://10.0.0.1"],
    refuses: ["http://127.0.0.1", "http://localhost"]
  },
  "allow: a network": {
    options: { allow: ["127.0.0.0/30"] },
    allows: ["http://127.0.0.1", "http://127.0.0.3", "http://[::ffff:127.0.0.1]", "http://8.8.8.8"],
    refuses: ["http://127.0.0.4", "http://[::1]", "http://localhost", "http://[64:ff9b::7f00:1]"]
  },
  "allow: one address": {
    options: { allow: ["::1"] },
    allows: ["http://[::1]:8080"],
    refuses: ["http://127.0.0.1", "http://[::]"]
  },
  "allow: a network of IPv6": {
    options: { base: EgressGuard.publicOnly, allow: ["fd00::/8"] },
    allows: ["http://[fd12::1]", "https://mcp.example"],
    refuses: ["http://[fc00::1]", "http://10.0.0.1"]
  },
  "allow: a name": {
    options: { allow: ["LocalHost", "*.internal.example"] },
    allows: ["http://localhost", "http://LOCALHOST.", "http://a.internal.example"],
    refuses: ["http://a.localhost", "http://127.0.0.1"]
  },
  "deny: networks": {
    options: { deny: ["10.0.0.0/8", "2606:4700::/32", "192.0.2.7"] },
    allows: ["http://11.0.0.0", "http://[2606:4701::1]", "http://192.0.2.6", "http://mcp.example"],
    refuses: [
      "http://10.1.2.3",
      "http://167772161",
      "http://[::ffff:10.1.2.3]",
      "http://[64:ff9b::10.1.2.3]",
      "http://[2002:a01:203::]",
      "http://[2606:4700::1]",
      "http://192.0.2.7"
    ]
  },
  "deny: an IPv4 network in the mapped spelling": {
    options: { deny: ["::ffff:10.0.0.0/104", "::ffff:8.8.8.8"] },
    allows: ["http://11.0.0.0", "http://8.8.4.4"],
    refuses: ["http://[::ffff:10.1.2.3]", "http://10.1.2.3", "http://[::ffff:8.8.8.8]", "http://8.8.8.8"]
  },
  "deny: names": {
    options: { deny: ["Evil.Example", "*.bad.example"] },
    allows: ["http://mcp.example", "http://a.evil.example", "http://bad.example", "http://notbad.example"],
    refuses: ["http://evil.example", "http://EVIL.example.", "http://a.bad.example", "http://a.b.bad.example"]
  },
  "deny wins over allow": {
    options: { allow: ["127.0.0.0/8", "localhost"], deny: ["127.0.0.2", "localhost"] },
    allows: ["http://127.0.0.1"],
    refuses: ["http://127.0.0.2", "http://localhost", "http://[::ffff:127.0.0.2]"]
  },
  "deny wins over hosts": {
    options: { hosts: ["*.example", "8.8.8.0/24"], deny: ["evil.example", "8.8.8.8"] },
    allows: ["http://mcp.example", "http://8.8.8.9"],
    refuses: ["http://evil.example", "http://8.8.8.8"]
  },
  "deny wins over an unrestricted base": {
    options: { base: EgressGuard.unrestricted, deny: ["127.0.0.0/8", "localhost"] },
    allows: ["http://[::1]", "http://169.254.169.254"],
    refuses: ["http://127.0.0.1", "http://localhost", "http://[::ffff:127.0.0.1]", "http://[64:ff9b::127.0.0.1]"]
  },
  hosts: {
    options: { hosts: ["mcp.example", "*.tools.example", "10.0.0.0/8", "::1"] },
    allows: ["https://mcp.example", "https://MCP.example.", "https://a.tools.example", "http://10.9.9.9"],
    refuses: [
      "https://tools.example",
      "https://mcp.example.evil",
      "https://xmcp.example",
      "http://11.0.0.1",
      "http://8.8.8.8",
      "http://[::1]",
      "http://localhost"
    ]
  },
  "hosts: none": { options: { hosts: [] }, allows: [], refuses: ["https://mcp.example", "http://8.8.8.8"] },
  ports: {
    options: { ports: [443, 8080] },
    allows: ["https://mcp.example", "https://mcp.example:443", "http://mcp.example:8080", "http://mcp.example:443"],
    refuses: ["http://mcp.example", "http://mcp.example:80", "https://mcp.example:8443"]
  },
  schemes: {
    options: { schemes: ["https"] },
    allows: ["https://mcp.example"],
    refuses: ["http://mcp.example", "ftp://mcp.example"]
  },
  "schemes in another case": {
    options: { schemes: ["HTTPS"] },
    allows: ["https://mcp.example"],
    refuses: ["http://mcp.example"]
  },
  "base: a policy that was made": {
    options: {
      base: EgressGuard.make({ schemes: ["https"], deny: ["evil.example"] }),
      allow: ["127.0.0.1"],
      ports: [1]
    },
    allows: ["https://127.0.0.1:1", "https://mcp.example:1"],
    refuses: ["http://127.0.0.1:1", "https://127.0.0.1", "https://127.0.0.2:1", "https://evil.example:1"]
  }
}

describe("make and parse", () => {
  it.each(Object.entries(rules))("%s", (_, { allows, options, refuses }) => {
    for (const policy of [EgressGuard.make(options), Result.getOrThrow(EgressGuard.parse(options))]) {
      for (const text of allows) assert.isTrue(url(policy, text), text)
      for (const text of refuses) assert.isFalse(url(policy, text), text)
      for (const literal of literals(allows.map((text) => new URL(text).host))) {
        assert.isTrue(address(policy, literal, literal), literal)
      }
    }
  })

  it("vets what a name resolves to by the same rules", () => {
    const policy = EgressGuard.make({ allow: ["127.0.0.1", "trusted.example"], deny: ["127.0.0.2", "evil.example"] })
    assert.isTrue(address(policy, "127.0.0.1"))
    assert.isTrue(address(policy, "127.0.0.3", "trusted.example"))
    assert.isFalse(address(policy, "127.0.0.3"))
    assert.isFalse(address(policy, "127.0.0.2", "trusted.example"))
    assert.isFalse(address(policy, "127.0.0.1", "evil.example"))
    assert.isFalse(address(policy, "127.0.0.1", "localhost"))
  })

  it.each([
    "",
    " ",
    "*",
    "*.",
    "*.*.example",
    "a.*.example",
    ".example",
    "mcp..example",
    "-mcp.example",
    "mcp example",
    "bücher.example",
    "https://mcp.example",
    "mcp.example/",
    "mcp.example:443",
    "user@mcp.example",
    "10.0.0.1/8",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0",
    "10",
    "2130706433",
    "0177.0.0.1",
    "256.0.0.1",
    "1.2.3.4.5",
    "[::1]",
    "fe80::1%eth0",
    "fd00::1/8",
    "::/129",
    "1::2::3",
    // A URL never has such a host: it is read as an address, so that the entry would hold for nothing.
    "0x7f000001",
    "0x7f.0.0.1",
    "127.0x1"
  ])("the entry %j is refused, wherever it stands", (entry) => {
    for (const key of ["allow", "deny", "hosts"] as const) {
      const options = { [key]: ["mcp.example", entry] }
      const refusal = Result.merge(EgressGuard.parse(options))
      assert.instanceOf(refusal, InvalidInput, key)
      assert.include(refusal.detail, "entry 2")
      assert.throws(() => EgressGuard.make(options), InvalidInput)
    }
  })

  it.each([0, -1, 65536, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("the port %d is refused", (port) => {
    assert.instanceOf(Result.merge(EgressGuard.parse({ ports: [443, port] })), InvalidInput)
    assert.throws(() => EgressGuard.make({ ports: [443, port] }), InvalidInput)
  })

  it.each(["ftp", "file", "https:", ""])("the scheme %j is refused", (scheme) => {
    assert.instanceOf(Result.merge(EgressGuard.parse({ schemes: ["https", scheme] })), InvalidInput)
  })
})

describe("a refusal", () => {
  const guard = (options: EgressGuard.Options) => EgressGuard.fromPolicy(EgressGuard.make(options))
  const ofUrl = (options: EgressGuard.Options, text: string) => guard(options).vetUrl(new URL(text))
  const denied = (result: ReturnType<typeof ofUrl>) => Result.getOrThrow(Result.flip(result))

  it("names the host, and says the same whatever the rule", () => {
    const refusals = [
      ofUrl({ deny: ["mcp.example"] }, "http://mcp.example/secret"),
      ofUrl({ hosts: [] }, "http://MCP.example./?token=secret"),
      ofUrl({ ports: [1] }, "http://mcp.example:2/"),
      ofUrl({ schemes: ["https"] }, "http://mcp.example/"),
      ofUrl({}, "http://user:secret@mcp.example/"),
      ofUrl({}, "ftp://mcp.example/"),
      ...["127.0.0.1", "169.254.169.254", "::1", "garbage"].map((each) => guard({}).vetAddress("mcp.example", each))
    ].map(denied)
    const messages = new Set(refusals.map((refusal) => refusal.message))
    assert.strictEqual(messages.size, 1)
    const [message] = messages
    assert.include(message, "mcp.example")
    assert.include(message, "EgressGuard.allowLoopback")
    for (const refusal of refusals) {
      assert.strictEqual(refusal.host, "mcp.example")
      assert.notInclude(JSON.stringify(refusal), "secret")
    }
  })

  it("gives the same hint for every host", () => {
    const hosts = ["localhost", "127.0.0.1", "10.0.0.1", "[::1]", "mcp.example", "[fe80::1]"]
    const hints = hosts.map((host) => {
      const { message } = denied(ofUrl({ hosts: [] }, `http://${host}/`))
      const bare = host.replace(/^\[|\]$/g, "")
      assert.include(message, bare)
      return message.replace(bare, "")
    })
    assert.strictEqual(new Set(hints).size, 1)
  })

  it("carries the address that was refused, and does not say it", () => {
    const refusal = denied(guard({}).vetAddress("mcp.example", "127.0.0.1"))
    assert.strictEqual(refusal.address, "127.0.0.1")
    assert.notInclude(refusal.message, "127.0.0.1")
  })
})
