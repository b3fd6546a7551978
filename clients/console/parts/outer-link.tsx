import { linkAddress, shortAddress } from "./addresses.ts";

interface OuterLinkProps {
  readonly address: string;
  readonly text?: string;
}

/** A link that leaves the console; only text where the address may not be followed. */
export function OuterLink({ address, text = shortAddress(address) }: OuterLinkProps) {
  const href = linkAddress(address);
  if (href === undefined) return <span class="address">{text}</span>;
  return (
    <a class="address" href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}
