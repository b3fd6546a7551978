/**
 * Prints the path of the Python that has openapi-python-client, for whoever imports nothing of the tests. Ends with the
 * code 3, and says why, where this machine has no Python for it.
 */
import { openapiPythonClient } from "./tools.ts";

const obstacle = await openapiPythonClient.whyNot();
if (obstacle === undefined) console.log(await openapiPythonClient.installed());
else {
  console.error(obstacle);
  process.exitCode = 3;
}
