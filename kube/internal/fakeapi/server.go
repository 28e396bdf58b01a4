package fakeapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// Namespace is the name of the namespace.
const Namespace = "jobs"

// Request is a request that the server gets.
type Request struct {
	Verb     string // create, get, list, watch, update, delete, exec
	Resource string // pods, leases, events, ...
	Name     string
	Body     []byte
}

// Fault is what happens to a request.
type Fault struct {
	Err   error         // the answer, instead of carrying it out
	Lost  bool          // the connection breaks after it was carried out
	Drop  bool          // the connection breaks before it is carried out
	Delay time.Duration // before it is carried out
}

// Server is the API server. Set changes how it behaves.
type Server struct {
	http *httptest.Server

	mu      sync.Mutex
	version int // the latest resourceVersion
	uids    int
	most    int // Pods at a time
	pods    map[string]*core.Pod
	leases  map[string]*coordination.Lease
	events  []core.Event
	history []change
	oldest  int // versions below it are compacted
	wake    chan struct{}
	b       Behaviour
	running map[string]*Running // by UID
	seen    []string            // what was sent: lines of requests and their bodies
	done    chan struct{}
	closed  bool
	work    sync.WaitGroup // of the kubelet
}

// change is a change of a Pod.
type change struct {
	version int
	kind    string
	pod     *core.Pod
}

// New returns a running Server. The caller must close it. kubelet is called for each new Pod in a goroutine of its own.
func New(kubelet func(*Running)) *Server {
	s := Local(kubelet)
	s.http = httptest.NewServer(s)
	return s
}

// Local returns a Server that only clients with its Config reach. It has no exec and no watch.
func Local(kubelet func(*Running)) *Server {
	return &Server{version: 1, pods: map[string]*core.Pod{}, leases: map[string]*coordination.Lease{}, wake: make(chan struct{}),
		b: Behaviour{Kubelet: kubelet, Labels: map[string]string{}, UID: "ns-1"}, running: map[string]*Running{}, done: make(chan struct{})}
}

// Config returns how to reach the server.
func (s *Server) Config() *rest.Config {
	if s.http == nil {
		return &rest.Config{Host: "http://local", Transport: s, RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter()}
	}
	return &rest.Config{Host: s.http.URL}
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &recorder{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, r)
	if w.cut {
		return nil, io.ErrUnexpectedEOF
	}
	return w.Result(), nil
}

// recorder keeps an answer, or that the connection broke.
type recorder struct {
	*httptest.ResponseRecorder
	cut bool
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.http.URL }

// Close ends the server and all agents.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.done)
	var all []*Running
	for _, r := range s.running {
		all = append(all, r)
	}
	s.mu.Unlock()
	for _, r := range all {
		r.Kill("")
	}
	if s.http != nil {
		s.http.CloseClientConnections()
		s.http.Close()
	}
	s.work.Wait()
}

// Set changes the behaviour of the server.
func (s *Server) Set(do func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.b)
}

// Behaviour is what Set changes.
type Behaviour struct {
	Fault       func(Request) Fault
	Admit       func(*core.Pod) error // may change the Pod
	Allow       func(authorization.ResourceAttributes) bool
	Quotas      []core.ResourceQuota
	Labels      map[string]string // of the namespace
	UID         string            // of the namespace
	Policy      bool              // the NetworkPolicy exists
	NoWebSocket bool
	Kubelet     func(*Running)
}

// Sent returns everything that the server was sent, except the streams of exec.
func (s *Server) Sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

// Requests counts what was requested, as "create pods".
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, line := range s.seen {
		fields := strings.Fields(line)
		count[fields[0]+" "+fields[1]]++
	}
	return count
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, ok := parse(r)
	if !ok {
		reply(w, apierrors.NewNotFound(schema.GroupResource{Resource: r.URL.Path}, ""))
		return
	}
	s.mu.Lock()
	line := q.Verb + " " + q.Resource + " " + q.Name + " " + r.URL.RawQuery + " " + strings.ReplaceAll(string(q.Body), "\n", " ")
	s.seen = append(s.seen, line)
	fault := s.b.Fault
	s.mu.Unlock()
	f := Fault{}
	if fault != nil {
		f = fault(q)
	}
	if f.Delay > 0 {
		time.Sleep(f.Delay)
	}
	switch {
	case f.Drop:
		cut(w)
		return
	case f.Err != nil:
		reply(w, f.Err)
		return
	case q.Verb == "watch":
		s.watch(w, r, q)
		return
	case q.Verb == "exec":
		s.exec(w, r, q)
		return
	}
	answer := s.answer(q, r)
	if f.Lost {
		cut(w)
		return
	}
	reply(w, answer)
}

// parse reads what is requested.
func parse(r *http.Request) (Request, bool) {
	body, _ := io.ReadAll(r.Body) // a broken request fails below
	q := Request{Body: body}
	switch r.Method {
	case http.MethodPost:
		q.Verb = "create"
	case http.MethodPut:
		q.Verb = "update"
	case http.MethodDelete:
		q.Verb = "delete"
	default:
		q.Verb = "get"
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	for i, part := range parts {
		switch {
		case part == "version" && i == 0:
			q.Resource = "version"
		case part == "namespaces" && i+2 < len(parts):
			parts = parts[i+2:]
			q.Resource = parts[0]
			if len(parts) > 1 {
				q.Name = parts[1]
			} else if q.Verb == "get" {
				q.Verb = "list"
			}
			if len(parts) > 2 && parts[2] == "exec" {
				q.Verb = "exec"
			}
			if r.URL.Query().Get("watch") == "true" {
				q.Verb = "watch"
			}
			return q, true
		case part == "namespaces":
			q.Resource, q.Name = part, parts[len(parts)-1]
		case strings.HasPrefix(part, "selfsubject"):
			q.Resource = part
		}
	}
	return q, q.Resource != ""
}

// answer carries out a request, and returns the object or the error of the answer.
func (s *Server) answer(q Request, r *http.Request) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch q.Verb + " " + q.Resource {
	case "get version":
		return map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.2"}
	case "get namespaces":
		return &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: Namespace, UID: types.UID(s.b.UID), Labels: s.b.Labels}}
	case "create selfsubjectaccessreviews":
		var review authorization.SelfSubjectAccessReview
		if err := json.Unmarshal(q.Body, &review); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		review.Status.Allowed = s.b.Allow == nil || s.b.Allow(*review.Spec.ResourceAttributes)
		return &review
	case "get networkpolicies":
		if s.b.Policy {
			return map[string]string{}
		}
	case "list resourcequotas":
		return &core.ResourceQuotaList{Items: s.b.Quotas}
	case "create pods":
		return s.createPod(q.Body)
	case "get pods":
		if p := s.pods[q.Name]; p != nil {
			return p
		}
	case "list pods":
		return s.listPods(r.URL.Query().Get("labelSelector"))
	case "delete pods":
		return s.deletePod(q)
	case "create leases", "update leases", "get leases":
		return s.lease(q)
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: q.Resource}, q.Name)
}
