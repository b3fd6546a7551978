/** A quantity of a resource: `500m`, `1.5Gi`, `1e3`. */
export const QUANTITY_PATTERN =
  "^([0-9]{1,18}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$";

const PATTERN = new RegExp(QUANTITY_PATTERN);
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const ONES = DECIMAL_SUFFIXES.indexOf("");

/**
 * Canonical spelling of a quantity, as the API server stores it: `4` for `4000m`, `1Gi` for `1024Mi`, `500m` for `0.5`.
 * An object with another spelling never equals the stored one.
 *
 * The rules are `CanonicalizeBytes` of https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity, after the
 * rounding up to thousandths of every list of resources.
 * @throws TypeError for a text that does not match `QUANTITY_PATTERN`
 */
export function canonicalQuantity(text: string): string {
  const known = spellings.get(text);
  if (known !== undefined) return known;
  const spelling = respelled(text);
  if (spellings.size >= MOST_SPELLINGS) spellings.clear();
  spellings.set(text, spelling);
  return spelling;
}

/** Settings and config sets have few amounts. */
const MOST_SPELLINGS = 1_000;
const spellings = new Map<string, string>();

function respelled(text: string): string {
  const { thousandths, suffix } = readQuantity(text);
  const isBinary = suffix !== "" && BINARY_SUFFIXES.includes(suffix);
  const isWhole = thousandths % 1000n === 0n;
  if (isBinary && isWhole && thousandths >= 1024_000n) return inBinary(thousandths / 1000n);
  return inDecimal(thousandths, /^[eE][+-]?[0-9]/.test(suffix));
}

/** Quantity in thousandths, rounded up: `500m` is 500, `1Ki` 1024000. @throws TypeError like `canonicalQuantity` */
export const thousandthsOfQuantity = (text: string): number => Number(readQuantity(text).thousandths);

function readQuantity(text: string): { readonly thousandths: bigint; readonly suffix: string } {
  const [, number, suffix = ""] = PATTERN.exec(text) ?? [];
  if (number === undefined) throw new TypeError(`'${text}' is not a quantity`);
  const binary = suffix === "" ? -1 : BINARY_SUFFIXES.indexOf(suffix);
  const exponent = binary < 0 ? decimalExponent(suffix) : 0;
  return {
    thousandths: thousandthsOf(number, { exponent, factor: binary < 0 ? 1n : 1024n ** BigInt(binary) }),
    suffix,
  };
}

function decimalExponent(suffix: string): number {
  const index = DECIMAL_SUFFIXES.indexOf(suffix);
  return index < 0 ? Number(suffix.slice(1)) : (index - ONES) * 3;
}

/** Rounded up. */
function thousandthsOf(number: string, { exponent, factor }: { exponent: number; factor: bigint }): bigint {
  const [whole = "", fraction = ""] = number.split(".");
  const digits = BigInt(whole + fraction) * factor;
  const scale = exponent - fraction.length + 3;
  if (scale >= 0) return digits * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(-scale);
  return (digits + divisor - 1n) / divisor;
}

function inBinary(amount: bigint): string {
  const { left, times } = stripped(amount, 1024n, BINARY_SUFFIXES.length - 1);
  return `${left}${BINARY_SUFFIXES[times]}`;
}

function inDecimal(thousandths: bigint, isExponential: boolean): string {
  if (thousandths === 0n) return "0";
  const { left, times } = stripped(thousandths, 1000n, DECIMAL_SUFFIXES.length - ONES);
  const power = times - 1;
  if (isExponential) return power === 0 ? String(left) : `${left}e${power * 3}`;
  return `${left}${DECIMAL_SUFFIXES[ONES + power]}`;
}

/** Divides while there is no remainder. */
function stripped(amount: bigint, by: bigint, most: number): { left: bigint; times: number } {
  let left = amount;
  let times = 0;
  for (; times < most && left !== 0n && left % by === 0n; times += 1) left /= by;
  return { left, times };
}
