// What pages gain with a script: the reader's own time beside UTC, and figures that follow the server.
// Everything else works without it.

const zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function showLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(time.getAttribute("datetime"));
    if (Number.isNaN(moment.getTime())) continue;
    const local = document.createElement("span");
    local.className = "local";
    local.textContent = ` (${zone.format(moment)} here)`;
    time.dataset.local = "yes";
    time.parentNode.insertBefore(local, time.nextSibling?.nextSibling ?? null);
  }
}

// The page itself says how the figures look: it is fetched again when the server says that they differ.
async function refresh(live) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (!fresh) return;
  live.replaceChildren(...fresh.childNodes);
  live.classList.remove("fresh");
  void live.offsetWidth;
  live.classList.add("fresh");
  showLocalTimes(live);
}

const live = document.getElementById("live");
if (live) {
  const events = new EventSource(live.dataset.events);
  let isFirst = true;
  events.addEventListener("overview", () => {
    if (!isFirst) refresh(live);
    isFirst = false;
  });
}

// A value that is typed is the one that is sent.
for (const input of document.querySelectorAll('input[name^="value."]')) {
  input.addEventListener("input", () => {
    const choice = document.getElementsByName(`choice.${input.name.slice(6)}`)[0];
    if (choice && input.value !== "") choice.value = "other";
  });
}

showLocalTimes(document);
