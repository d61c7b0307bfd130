import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Configuration,
  PlantsApi,
  type PlantStoreError,
  PlantStoreErrorFromJSON,
  ResponseError,
} from "../../../target/clients/typescript/index.js";

const { BASE: address, TOKEN, STRANGER } = process.env;
const plants = api(TOKEN);

function api(accessToken?: string): PlantsApi {
  return new PlantsApi(new Configuration({ basePath: address, accessToken }));
}

/** Returns the status and the error of a call that fails. */
async function failure(call: Promise<unknown>): Promise<[number, PlantStoreError]> {
  try {
    await call;
  } catch (refused) {
    assert(refused instanceof ResponseError);
    return [refused.response.status, PlantStoreErrorFromJSON(await refused.response.json())];
  }
  assert.fail("the call did not fail");
}

test("creating the same plant twice succeeds", async () => {
  const newPlant = { id: 301, name: "fern", tag: "shade" };
  assert.deepEqual(await plants.createPlant({ newPlant }), { name: "fern", tag: "shade" });
  assert.deepEqual(await plants.createPlant({ newPlant }), { name: "fern", tag: "shade" });
});

test("the response for a plant without a tag has no tag", async () => {
  const plant = await plants.createPlant({ newPlant: { id: 302, name: "oak" } });
  assert.equal(plant.name, "oak");
  assert.equal(plant.tag, undefined);
});

test("a taken id is refused", async () => {
  await plants.createPlant({ newPlant: { id: 303, name: "fern" } });
  const [status, error] = await failure(
    plants.createPlant({ newPlant: { id: 303, name: "moss" } }),
  );
  assert.equal(status, 400);
  assert.equal(error.error, 3001);
});

test("a create without a token is refused", async () => {
  const [status, error] = await failure(
    api().createPlant({ newPlant: { id: 304, name: "fern" } }),
  );
  assert.equal(status, 401);
  assert.equal(error.error, 4001);
});

test("a token without a required claim is refused", async () => {
  const [status, error] = await failure(
    api(STRANGER).createPlant({ newPlant: { id: 305, name: "fern" } }),
  );
  assert.equal(status, 403);
  assert.equal(error.error, 4006);
});
