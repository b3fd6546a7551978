-- The health of an EphemeralEnvironment, as Argo CD asks for it: argocd-cm,
-- resource.customizations.health.ephemeral-environments.dev_EphemeralEnvironment.
local function condition(type)
  for _, one in ipairs((obj.status or {}).conditions or {}) do
    if one.type == type then return one end
  end
  return {}
end

if obj.metadata.deletionTimestamp ~= nil then
  return {status = "Progressing", message = condition("Ready").message or "being deleted"}
end
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "waiting for the platform to observe the spec"}
end
local ready = condition("Ready")
if obj.status.phase == "failed" then
  return {status = "Degraded", message = (ready.reason or "Failed") .. ": " .. (ready.message or "")}
end
local suspended = condition("Suspended")
if suspended.status == "True" then
  return {status = "Suspended", message = suspended.message}
end
if obj.status.phase == "ready" then
  return {status = "Healthy", message = obj.status.url or ""}
end
return {status = "Progressing", message = obj.status.phase .. ": " .. (ready.message or "")}
