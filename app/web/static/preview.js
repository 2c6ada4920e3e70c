// Loads the preview again as soon as the file is no longer what the page was made of.

const shown = document.querySelector('meta[name="preview"]').content;
const events = new EventSource("/events");
events.addEventListener("state", (event) => {
  if (event.data !== shown) location.reload();
});
