// What pages can do better with a script. Each of them works without.

const htmx = window.htmx;
const POLL_MS = 3000;

/** Times in the reader's own zone; the page has them in UTC. */
function tellLocalTimes(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = format.format(new Date(time.dateTime));
  }
}

const report = () => document.querySelector("#report[data-submission]");
const isFinal = () => !report() || "final" in report().dataset;

let drawing = false;
let again = false;

/** Draws the report as it is now. A call while one is under way leads to one more after it. */
async function refresh() {
  again = true;
  if (drawing) return;
  drawing = true;
  while (again) {
    again = false;
    const how = { target: "#report", select: "#report", swap: "outerHTML" };
    await htmx.ajax("GET", location.pathname, how).catch(() => {});
  }
  drawing = false;
}

/** Draws the report again whenever the submission's status changes, until it is final. */
function follow() {
  if (isFinal()) return;
  const id = report().dataset.submission;
  const events = new EventSource(`/api/v1/submissions/${encodeURIComponent(id)}/events`);
  events.addEventListener("status", (event) => {
    const { status, final } = JSON.parse(event.data);
    if (final) events.close();
    if (report().dataset.status !== status) refresh();
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) poll();
  });
}

/** The same by asking from time to time, where events do not come through. */
function poll() {
  const timer = setInterval(() => (isFinal() ? clearInterval(timer) : refresh()), POLL_MS);
}

/** Says aloud what a screen reader would miss when the report is drawn again. */
function announce() {
  const said = report()?.dataset.said;
  const announcer = document.getElementById("announcer");
  if (said && announcer.textContent !== said) announcer.textContent = said;
}

document.addEventListener("htmx:afterSettle", (event) => {
  tellLocalTimes(event.detail.elt.isConnected ? event.detail.elt : document);
  announce();
});

tellLocalTimes(document);
follow();
