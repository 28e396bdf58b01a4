package metrics

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// What was counted is scraped as it was counted; /healthz says how the watch is.
func TestMetrics_AreScrapedAsCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics")
	l, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	m := New()
	end := m.Serve(l)
	defer end()
	asked := client(path)
	if code, text := get(t, asked, "/healthz"); code != http.StatusServiceUnavailable || text != "starting\n" {
		t.Errorf("before the first generation: %d %q", code, text)
	}
	typeOf := func(addr string) string { return "type-of-" + addr }
	for _, told := range []watch.Event{
		watch.Loaded{First: true},
		watch.Looked{Address: "a", Why: watch.Poll, Status: drift.Gone, Took: time.Second, Late: 2 * time.Second},
		watch.Looked{Address: "a", Why: watch.ByEvent, Status: drift.None, Took: time.Millisecond},
		watch.Righted{Address: "a", Took: 3 * time.Second},
		watch.Missed{Address: "a"}, watch.Process{Address: "b"}, watch.Process{Address: "b", Running: true},
	} {
		m.Told(told, typeOf)
	}
	m.Event("x")
	m.Event("x")
	m.Repaired("ok")
	m.Waited(1500 * time.Millisecond)
	m.ReloadFailed()
	m.Counted(watch.Counts{Resources: 10, ByEvents: 3, Watched: 4, Drifted: 3, Gone: 1, Failed: 2, Open: 1})
	got := scrape(t, asked)
	for name, want := range map[string]float64{
		"resources{valid}": 5, "resources{drifted}": 2, "resources{gone}": 1, "resources{failed}": 2,
		"processes{running}": 3, "processes{ended}": 1, "converged{}": 0,
		"looks_total{gone,poll}": 1, "looks_total{valid,event}": 1, "look_seconds{}": 1.001,
		"poll_late_seconds{}": 2, "repair_seconds{}": 3,
		"events_total{x}": 2, "missed_total{type-of-a}": 1, "process_restarts_total{type-of-b}": 1,
		"repairs_total{ok}": 1, "lock_wait_seconds_total{}": 1.5, "reload_failures_total{}": 1,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
		delete(got, name)
	}
	if got["go_goroutines{}"] == 0 || got["process_open_fds{}"] == 0 {
		t.Error("nothing is said of the program itself")
	}
	maps.DeleteFunc(got, func(name string, _ float64) bool {
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
	if len(got) > 0 {
		t.Errorf("nobody has counted %v", got)
	}
	m.Counted(watch.Counts{Resources: 10})
	if got := scrape(t, asked); got["converged{}"] != 1 {
		t.Error("nothing to do, and it is not converged")
	}
	if code, text := get(t, asked, "/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("while it lives: %d %q", code, text)
	}
	m.health.last.Store(monotonic() - int64(time.Minute))
	if code, text := get(t, asked, "/healthz"); code != http.StatusServiceUnavailable || text != "stuck for 1m0s\n" {
		t.Errorf("when it is stuck: %d %q", code, text)
	}
}

// The socket of a watch that was killed is replaced; one that is listened on, and a file,
// are not.
func TestListen_ReplacesTheSocketOfADeadWatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics")
	l, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), "unix:"+path); err == nil {
		t.Error("two listen on one socket")
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	l, err = Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatalf("a socket that nobody listens on: %v", err)
	}
	_ = l.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), "unix:"+path); err == nil {
		t.Error("a file was replaced by a socket")
	}
	if l, err = Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func client(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
}

func get(t *testing.T, c *http.Client, path string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://watch"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// sample is a line of the text format: a name, perhaps labels, and a value.
var sample = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? ([-+.e0-9]+)$`)

// scrape gives all values by name and labels; of histograms the sums.
func scrape(t *testing.T, c *http.Client) map[string]float64 {
	t.Helper()
	code, text := get(t, c, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, text)
	}
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.Contains(line, "_bucket{") {
			continue
		}
		parts := sample.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("this is no sample: %q", line)
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for label := range strings.SplitSeq(parts[2], ",") {
			_, quoted, _ := strings.Cut(label, "=")
			labels = append(labels, strings.Trim(quoted, `"`))
		}
		if name := strings.TrimPrefix(parts[1], prefix); !strings.HasSuffix(name, "_count") {
			values[strings.TrimSuffix(name, "_sum")+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return values
}
