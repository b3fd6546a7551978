/**
 * Prints the path of the Python with openapi-python-client, for callers outside the tests. Exits with 3 and the reason where
 * this machine has no suitable Python.
 */
import { openapiPythonClient } from "./tools.ts";

const obstacle = await openapiPythonClient.whyNot();
if (obstacle === undefined) console.log(await openapiPythonClient.installed());
else {
  console.error(obstacle);
  process.exitCode = 3;
}
