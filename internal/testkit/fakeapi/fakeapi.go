package fakeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Service has things, each with an id, a label and a value, and takes its time before
// and after it does something. POST makes a thing, PUT /id changes, DELETE /id removes
// and GET /id shows it.
type Service struct {
	URL  string
	Most time.Duration // that it takes before, and after

	mu     sync.Mutex // guards what follows
	things map[string]map[string]string
	made   int
	asked  int // to make, to change or to remove
	random *rand.Rand
	busy   map[net.Conn]bool // connections, and whether somebody may ask something by it yet
}

// New opens one for a test. What it chooses follows from the seed.
func New(t *testing.T, seed uint64, most time.Duration) *Service {
	o := &Service{Most: most, things: map[string]map[string]string{}, random: rand.New(rand.NewPCG(seed, 1)), busy: map[net.Conn]bool{}}
	server := httptest.NewUnstartedServer(o)
	server.Config.ConnState = o.connection
	server.Start()
	t.Cleanup(server.Close)
	o.URL = server.URL
	return o
}

func (o *Service) connection(c net.Conn, s http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[c] = true; s == http.StateClosed || s == http.StateHijacked {
		delete(o.busy, c)
	}
}

// Quiet waits until nobody is connected any more: what the dead have asked is done, or
// will never be.
func (o *Service) Quiet(t *testing.T) {
	t.Helper()
	for range 20_000 {
		// Connections are accepted in their order: those before this one are known then.
		if answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(o.URL + "/nothing"); err == nil {
			_ = answer.Body.Close() // there is nothing in it
		}
		time.Sleep(time.Millisecond)
		o.mu.Lock()
		open := len(o.busy)
		o.mu.Unlock()
		if open == 0 {
			return
		}
	}
	t.Fatal("somebody is still connected to the service")
}

// Asked is how often it was asked to make, to change or to remove something.
func (o *Service) Asked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// Made is how many things it has made.
func (o *Service) Made() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.made
}

func (o *Service) pause() {
	o.mu.Lock()
	d := time.Duration(o.random.Int64N(int64(o.Most)))
	o.mu.Unlock()
	time.Sleep(d)
}

// ServeHTTP does what is asked whether or not somebody still waits for it.
func (o *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]string
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o.mu.Lock()
		o.asked++
		o.mu.Unlock()
		o.pause()
	}
	said, there := o.do(r.Method, strings.TrimPrefix(r.URL.Path, "/"), body)
	if r.Method != http.MethodGet {
		o.pause()
	}
	if !there {
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(said) // who has asked may be dead
}

func (o *Service) do(method, id string, body map[string]string) (map[string]string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if method == http.MethodPost {
		o.made++
		id = fmt.Sprintf("%x", o.random.Uint64())
		o.things[id] = map[string]string{"id": id}
	}
	thing, there := o.things[id]
	switch {
	case !there:
		return nil, false
	case method == http.MethodDelete:
		delete(o.things, id)
	case method == http.MethodPost, method == http.MethodPut:
		thing["label"], thing["value"] = body["label"], body["value"]
	}
	return maps.Clone(thing), true
}

// Things gives what each thing holds, as label=value, by id.
func (o *Service) Things() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]string, len(o.things))
	for id, thing := range o.things {
		all[id] = thing["label"] + "=" + thing["value"]
	}
	return all
}

// By gives the ids of the things with a label, sorted.
func (o *Service) By(label string) (ids []string) {
	for id, is := range o.Things() {
		if strings.HasPrefix(is, label+"=") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Wrong says what is not as it is declared: a value for each label.
func (o *Service) Wrong(declared map[string]string) (faults []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := map[string]int{}
	for id, thing := range o.things {
		if seen[thing["label"]]++; declared[thing["label"]] != thing["value"] {
			faults = append(faults, fmt.Sprintf("%s %v is not declared so", id, thing))
		}
	}
	for label := range declared {
		if seen[label] != 1 {
			faults = append(faults, fmt.Sprintf("%s is there %d times", label, seen[label]))
		}
	}
	return faults
}
