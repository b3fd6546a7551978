import { expect, test } from "@jest/globals";
import { corefile } from "../../../../../deploy/local/components/dns.ts";

test.each([
  { name: "with a space", path: "/a checkout/coredns.kubeconfig", word: '"/a checkout/coredns.kubeconfig"' },
  { name: "with a quote", path: '/a "b" #c/coredns.kubeconfig', word: '"/a \\"b\\" #c/coredns.kubeconfig"' },
])("CoreDNS reads a path $name as one word", ({ path, word }) => {
  expect(corefile(path)).toContain(`kubeconfig ${word} local\n`);
});
