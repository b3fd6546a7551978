import { lazy, Route, Router } from "preact-iso";
import { EnvironmentsScreen } from "../environments/environments-screen.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";

// Loaded when opened, except the first.
const NewEnvironment = lazy(() =>
  import("../new-environment/new-environment-screen.tsx").then((it) => it.NewEnvironmentScreen),
);
const Environment = lazy(() => import("../environment/environment-screen.tsx").then((it) => it.EnvironmentScreen));
const ConfigSets = lazy(() => import("../config-sets/config-sets-screen.tsx").then((it) => it.ConfigSetsScreen));
const ConfigSet = lazy(() => import("../config-sets/config-set-screen.tsx").then((it) => it.ConfigSetScreen));
const Repositories = lazy(() => import("../repositories/repositories-screen.tsx").then((it) => it.RepositoriesScreen));
const Repository = lazy(() => import("../repositories/repository-screen.tsx").then((it) => it.RepositoryScreen));
const Deliveries = lazy(() => import("../webhooks/deliveries-screen.tsx").then((it) => it.DeliveriesScreen));
const Delivery = lazy(() => import("../webhooks/delivery-screen.tsx").then((it) => it.DeliveryScreen));
const Tokens = lazy(() => import("../tokens/tokens-screen.tsx").then((it) => it.TokensScreen));
const Costs = lazy(() => import("../costs/costs-screen.tsx").then((it) => it.CostsScreen));
const Insights = lazy(() => import("../insights/insights-screen.tsx").then((it) => it.InsightsScreen));
const Status = lazy(() => import("../status/status-screen.tsx").then((it) => it.StatusScreen));

/** Screens by path. */
export function Screens() {
  return (
    <Router>
      <Route path="/console" component={EnvironmentsScreen} />
      <Route path="/console/new" component={NewEnvironment} />
      <Route path="/console/environments/:name/:tab?/:component?" component={Environment} />
      <Route path="/console/config-sets" component={ConfigSets} />
      <Route path="/console/config-sets/:id" component={ConfigSet} />
      <Route path="/console/repositories" component={Repositories} />
      <Route path="/console/repositories/:id" component={Repository} />
      <Route path="/console/webhooks" component={Deliveries} />
      <Route path="/console/webhooks/:id" component={Delivery} />
      <Route path="/console/tokens" component={Tokens} />
      <Route path="/console/costs" component={Costs} />
      <Route path="/console/insights" component={Insights} />
      <Route path="/console/status" component={Status} />
      <Route default component={NothingHere} />
    </Router>
  );
}

function NothingHere() {
  return (
    <Page title="Nothing here">
      <Empty title="There is no such screen">
        <p>
          <a href="/console/">To the environments</a>
        </p>
      </Empty>
    </Page>
  );
}
