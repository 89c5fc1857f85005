/**
 * Where this program may connect.
 *
 * A server's URL may come from a customer, and a name may resolve to anything. The guard is asked twice: `vetUrl` before
 * a request, and `vetAddress` at every dial, for every address that the name resolved to. The connection then goes to an
 * address that was vetted; nothing is looked up twice, so an answer that changes between look-ups changes nothing.
 *
 * IPv4 addresses are recognised inside IPv6 ones too: mapped, compatible, translated, NAT64, 6to4, Teredo and ISATAP.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { EgressDenied, InvalidInput } from "../errors/McpError.ts"

/**
 * @category services
 * @since 0.1.0
 */
export class EgressGuard extends Context.Service<EgressGuard, {
  /**
   * Vets scheme, port and host of a URL, and the address where the host is one.
   */
  readonly vetUrl: (url: URL) => Result.Result<void, EgressDenied>
  /**
   * Vets one address that `host` resolved to, in the spelling of the resolver. What is no address is refused.
   */
  readonly vetAddress: (host: string, address: string) => Result.Result<void, EgressDenied>
}>()("effect-mcp-client/EgressGuard") {}

/**
 * A rule for what may be reached. Compared by identity where connection pools are shared, so keep it in a constant.
 *
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  /**
   * Whether this name, or literal address, may be tried at all. Lower case, without brackets or a dot at the end.
   */
  readonly host: (host: string) => boolean
  /**
   * Whether this address may be dialled for this host.
   */
  readonly address: (address: NetAddress.IpAddress, host: string) => boolean
  readonly port: (port: number) => boolean
  readonly scheme: (scheme: string) => boolean
}

/**
 * Options of `make`. Networks are CIDRs such as `10.0.0.0/8`, or single addresses; names match exactly, or, written
 * `*.example.com`, any name below.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * What holds where nothing below says otherwise. Default: `standard`.
   */
  readonly base?: Policy | undefined
  /**
   * Networks and names that may be reached although `base` refuses them. `localhost` is a name: to allow its addresses is
   * not to allow it.
   */
  readonly allow?: ReadonlyArray<string> | undefined
  /**
   * Networks and names that may not be reached, whatever else is said.
   */
  readonly deny?: ReadonlyArray<string> | undefined
  /**
   * The only names and literal addresses that a URL may have.
   */
  readonly hosts?: ReadonlyArray<string> | undefined
  /**
   * The only ports.
   */
  readonly ports?: ReadonlyArray<number> | undefined
  /**
   * The only schemes, such as `["https"]`.
   */
  readonly schemes?: ReadonlyArray<string> | undefined
}

const networks = (...cidrs: ReadonlyArray<string>): ReadonlyArray<IpNetwork.IpNetwork> =>
  cidrs.map(IpNetwork.fromStringUnsafe)

const within = (list: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress): boolean =>
  list.some((network) => IpNetwork.contains(network, address))

const loopback = networks("127.0.0.0/8", "::1/128")

/**
 * Never a server of somebody else: this host, this link, nobody, many, or a cloud's metadata service.
 */
const neverServers = networks(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "::/128",
  "fe80::/10",
  "ff00::/8",
  // Metadata services that are not link-local: AWS, Google Cloud, Oracle, Scaleway and Akamai over IPv6; Alibaba, Oracle
  // and Azure.
  "fd00:ec2::/32",
  "fd20:ce::254/128",
  "fd00:c1::a9fe:a9fe/128",
  "fd00:42::42/128",
  "fd00:a9fe:a9fe::1/128",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32"
)

/**
 * IPv4 that is not the public Internet: private, shared (CGNAT), protocol assignments, documentation, the retired 6to4
 * relay, benchmarks, and what is reserved.
 */
const notPublic4 = networks(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "240.0.0.0/4"
)

/**
 * Global unicast IPv6, and in it what is set aside: protocol assignments (with Teredo, benchmarks and ORCHID) and
 * documentation. 6to4 and NAT64 stand for the IPv4 address that they carry.
 */
const public6 = networks("2000::/3", "64:ff9b::/96")
const notPublic6 = networks("2001::/23", "2001:db8::/32", "3fff::/20")

const embeddings: ReadonlyArray<{
  readonly network: IpNetwork.IpNetwork
  readonly extract: (octets: ReadonlyArray<number>) => ReadonlyArray<ReadonlyArray<number>>
}> = [
  // IPv4-mapped, IPv4-compatible, IPv4-translated and NAT64 carry it in the last four octets.
  ...networks("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96").map((network) => ({
    network,
    extract: (octets: ReadonlyArray<number>) => [octets.slice(12)]
  })),
  // NAT64 with a local prefix may be /48, /56, /64 or /96 long (RFC 6052, section 2.2); octet 8 is always skipped. The
  // readings that are not meant are mostly zeros, and refused: a network that has such a prefix allows it by `make`.
  {
    network: IpNetwork.fromStringUnsafe("64:ff9b:1::/48"),
    extract: (octets) => [
      [octets[6]!, octets[7]!, octets[9]!, octets[10]!],
      [octets[7]!, octets[9]!, octets[10]!, octets[11]!],
      octets.slice(9, 13),
      octets.slice(12)
    ]
  },
  { network: IpNetwork.fromStringUnsafe("2002::/16"), extract: (octets) => [octets.slice(2, 6)] },
  // Teredo carries its server in clear and its client inverted (RFC 4380, section 4).
  {
    network: IpNetwork.fromStringUnsafe("2001::/32"),
    extract: (octets) => [octets.slice(4, 8), octets.slice(12).map((octet) => octet ^ 0xff)]
  }
]

/**
 * ISATAP: an interface identifier `0000:5efe` or `0200:5efe`, then the IPv4 address (RFC 5214, section 6.1).
 */
const isIsatap = (octets: ReadonlyArray<number>): boolean =>
  (octets[8]! & 0xfd) === 0 && octets[9] === 0 && octets[10] === 0x5e && octets[11] === 0xfe

/**
 * The IPv4 addresses that an IPv6 address may deliver to.
 */
const embedded = (address: NetAddress.Ipv6Address): ReadonlyArray<NetAddress.Ipv4Address> => {
  const octets = NetAddress.ipv6ToOctets(address)
  const carried = embeddings.flatMap(({ extract, network }) =>
    IpNetwork.contains(network, address) ? extract(octets) : []
  )
  if (isIsatap(octets)) carried.push(octets.slice(12))
  return carried.map((four) => NetAddress.ipv4FromBytesUnsafe(new Uint8Array(four)))
}

/**
 * `::` and `::1` lie inside the compatible range and carry nothing; they are judged as what they are.
 */
const isBare = (address: NetAddress.IpAddress): boolean =>
  NetAddress.isUnspecified(address) || NetAddress.isLoopback(address)

/**
 * An address is let through where it is itself, and where every IPv4 address inside it is. An IPv4-mapped address is
 * another spelling of what it carries, and is judged as that alone.
 */
const through = (allowed: (address: NetAddress.IpAddress) => boolean) => (address: NetAddress.IpAddress): boolean => {
  const canonical = NetAddress.toCanonical(address)
  if (NetAddress.isIpv4Address(canonical) || isBare(canonical)) return allowed(canonical)
  return allowed(canonical) && embedded(canonical).every(allowed)
}

const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost")

const any = (): boolean => true

const web = (scheme: string): boolean => scheme === "http" || scheme === "https"

/**
 * Refuses loopback, link-local (cloud metadata with it), unspecified, multicast and broadcast addresses, in every
 * spelling and inside IPv6. Private networks may be reached: many servers live there.
 *
 * @category policies
 * @since 0.1.0
 */
export const standard: Policy = {
  host: (host) => !isLocalName(host),
  address: through((address) => !within(neverServers, address) && !within(loopback, address)),
  port: any,
  scheme: web
}

/**
 * The public Internet alone: refuses also private, shared, unique-local, documentation, benchmark and reserved ranges.
 * For URLs that come from people outside.
 *
 * @category policies
 * @since 0.1.0
 */
export const publicOnly: Policy = {
  ...standard,
  address: through((address) =>
    !within(neverServers, address) && !within(loopback, address) &&
    (NetAddress.isIpv4Address(address)
      ? !within(notPublic4, address)
      : within(public6, address) && !within(notPublic6, address))
  )
}

/**
 * As `standard`, with loopback: for development, and for tests.
 *
 * @category policies
 * @since 0.1.0
 */
export const allowLoopback: Policy = {
  ...standard,
  host: any,
  address: through((address) => within(loopback, address) || !within(neverServers, address))
}

/**
 * Refuses nothing but other schemes than http and https.
 *
 * @category policies
 * @since 0.1.0
 */
export const unrestricted: Policy = {
  host: any,
  address: any,
  port: any,
  scheme: web
}

interface Rules {
  readonly networks: ReadonlyArray<IpNetwork.IpNetwork>
  readonly name: (host: string) => boolean
}

const invalid = (detail: string): InvalidInput =>
  new InvalidInput({ operation: "EgressGuard.parse", server: undefined, detail })

const name = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/**
 * A URL takes what ends so for an IPv4 address, in one of its many spellings.
 */
const isNumeric = (host: string): boolean => /(^|\.)([0-9]+|0x[0-9a-f]*)$/.test(host)

const mapped = IpNetwork.fromStringUnsafe("::ffff:0:0/96")

/**
 * An IPv4 network, also where it is spelt as an IPv6 one: addresses are judged in their canonical form.
 */
const toCanonical = (network: IpNetwork.IpNetwork): IpNetwork.IpNetwork =>
  network.prefixLength >= 96 && IpNetwork.contains(mapped, network.address)
    ? IpNetwork.makeUnsafe(NetAddress.toCanonical(network.address), network.prefixLength - 96)
    : network

const parseNetwork = (entry: string): IpNetwork.IpNetwork | undefined => {
  const network = Result.orElse(
    IpNetwork.fromString(entry),
    () =>
      Result.flatMap(
        NetAddress.ipFromString(entry),
        (address) => IpNetwork.make<NetAddress.IpAddress>(address, NetAddress.width(address))
      )
  )
  return Result.isSuccess(network) ? toCanonical(network.success) : undefined
}

const parseRules = (list: string, entries: ReadonlyArray<string>): Result.Result<Rules, InvalidInput> => {
  const cidrs: Array<IpNetwork.IpNetwork> = []
  const exact = new Set<string>()
  const suffixes: Array<string> = []
  for (const entry of entries) {
    const network = parseNetwork(entry)
    const lower = entry.toLowerCase()
    if (network !== undefined) cidrs.push(network)
    else if (isNumeric(lower) || !name.test(lower)) {
      return Result.fail(
        invalid(`entry ${entries.indexOf(entry) + 1} of ${list} is neither a network in canonical form nor a name`)
      )
    } else if (lower.startsWith("*.")) suffixes.push(lower.slice(1))
    else exact.add(lower)
  }
  return Result.succeed({
    networks: cidrs,
    name: (host) => exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix))
  })
}

/**
 * Reads a policy out of options that may come from configuration. Fails with `InvalidInput`, which names the place of a
 * bad entry.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (options: Options): Result.Result<Policy, InvalidInput> =>
  Result.gen(function*() {
    const base = options.base ?? standard
    const allow = yield* parseRules("allow", options.allow ?? [])
    const deny = yield* parseRules("deny", options.deny ?? [])
    const hosts = options.hosts === undefined ? undefined : yield* parseRules("hosts", options.hosts)
    const { ports } = options
    const schemes = options.schemes?.map((scheme) => scheme.toLowerCase())
    if (schemes?.some((scheme) => !web(scheme))) {
      return yield* Result.fail(invalid("a scheme is neither http nor https"))
    }
    if (ports?.some((port) => !Number.isInteger(port) || port < 1 || port > 65535)) {
      return yield* Result.fail(invalid("a port is not a number from 1 to 65535"))
    }
    const notDenied = through((address) => !within(deny.networks, address))
    return {
      host: (host) => {
        const literal = Result.getOrUndefined(NetAddress.ipFromString(host))
        if (deny.name(host)) return false
        if (hosts !== undefined && !hosts.name(host) && !(literal !== undefined && within(hosts.networks, literal))) {
          return false
        }
        return allow.name(host) || (literal !== undefined && within(allow.networks, literal)) || base.host(host)
      },
      address: (address, host) =>
        notDenied(address) &&
        (allow.name(host) || within(allow.networks, NetAddress.toCanonical(address)) || base.address(address, host)),
      port: (port) => (ports === undefined || ports.includes(port)) && base.port(port),
      scheme: (scheme) => (schemes === undefined || schemes.includes(scheme)) && base.scheme(scheme)
    }
  })

/**
 * A policy out of options that were written in the program. Throws the `InvalidInput` of `parse`: nothing that is not
 * understood is let through.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Policy => Result.getOrThrow(parse(options))

/**
 * A host as a name resolver sees it: lower case, no brackets, no dot at the end.
 */
const normalize = (host: string): string => {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host
  return bare.toLowerCase().replace(/\.$/, "")
}

/**
 * Nothing else is worth parsing: a name has a letter that is no hexadecimal digit, or it would be read as an address.
 */
const looksLikeAddress = (host: string): boolean => /^[0-9a-f:.]+$/.test(host)

const parseAddress = (text: string): NetAddress.IpAddress | undefined =>
  looksLikeAddress(text) ? Result.getOrUndefined(NetAddress.ipFromString(text)) : undefined

/**
 * The guard of a policy.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPolicy = (policy: Policy): EgressGuard["Service"] => {
  const isRefused = (host: string, address: NetAddress.IpAddress | undefined): boolean =>
    address !== undefined && !policy.address(address, host)
  return {
    vetAddress: (host, address) => {
      const normal = normalize(host)
      // A zone (`fe80::1%eth0`) says which link; the address before it is what counts.
      const parsed = parseAddress(normalize(address).split("%")[0]!)
      return parsed !== undefined && policy.host(normal) && !isRefused(normal, parsed)
        ? Result.void
        : Result.fail(new EgressDenied({ host: normal, address }))
    },
    vetUrl: (url) => {
      const scheme = url.protocol.replace(/:$/, "")
      const host = normalize(url.hostname)
      const port = url.port === "" ? scheme === "https" ? 443 : 80 : Number(url.port)
      const allowed = url.username === "" && url.password === "" && host !== "" && policy.scheme(scheme) &&
        policy.port(port) && policy.host(host)
      const literal = allowed ? parseAddress(host) : undefined
      if (allowed && !isRefused(host, literal)) return Result.void
      return Result.fail(new EgressDenied({ host, ...(literal === undefined ? {} : { address: host }) }))
    }
  }
}

/**
 * Provides the guard of a policy.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (policy: Policy): Layer.Layer<EgressGuard> => Layer.succeed(EgressGuard, fromPolicy(policy))
