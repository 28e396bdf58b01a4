package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var podResource = schema.GroupResource{Resource: "pods"}

// createPod creates a Pod, and starts the kubelet for it.
func (s *Server) createPod(body []byte) any {
	var p core.Pod
	if err := json.Unmarshal(body, &p); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if s.pods[p.Name] != nil {
		return apierrors.NewAlreadyExists(podResource, p.Name)
	}
	if s.b.Admit != nil {
		if err := s.b.Admit(&p); err != nil {
			return err
		}
	}
	for _, quota := range s.b.Quotas {
		most := quota.Spec.Hard.Pods().Value()
		if used := s.living(); most > 0 && used >= most {
			return apierrors.NewForbidden(podResource, p.Name, fmt.Errorf("exceeded quota: %s, requested: pods=1, used: pods=%d, "+
				"limited: pods=%d", quota.Name, used, most))
		}
	}
	s.uids++
	p.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	p.Namespace, p.UID, p.CreationTimestamp = Namespace, types.UID("pod-"+strconv.Itoa(s.uids)), meta.Now()
	p.Status.Phase = core.PodPending
	s.put("ADDED", &p)
	s.most = max(s.most, len(s.pods))
	r := newRunning(s, &p)
	s.running[string(p.UID)] = r
	kubelet := s.b.Kubelet
	s.work.Go(func() { kubelet(r) })
	return s.pods[p.Name]
}

// living counts the Pods that a quota counts.
func (s *Server) living() (n int64) {
	for _, p := range s.pods {
		if p.Status.Phase == core.PodPending || p.Status.Phase == core.PodRunning {
			n++
		}
	}
	return n
}

// put stores a new version of a Pod, or its end.
func (s *Server) put(kind string, p *core.Pod) {
	s.version++
	p = p.DeepCopy()
	p.ResourceVersion = strconv.Itoa(s.version)
	if kind == "DELETED" {
		delete(s.pods, p.Name)
	} else {
		s.pods[p.Name] = p
	}
	s.history = append(s.history, change{s.version, kind, p})
	close(s.wake)
	s.wake = make(chan struct{})
}

func (s *Server) listPods(selector string) any {
	match, err := labels.Parse(selector)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	list := &core.PodList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = strconv.Itoa(s.version)
	for _, p := range s.pods {
		if match.Matches(labels.Set(p.Labels)) {
			list.Items = append(list.Items, *p)
		}
	}
	return list
}

// deletePod ends a Pod within its grace time, or at once with grace 0.
func (s *Server) deletePod(q Request) any {
	var o meta.DeleteOptions
	if err := json.Unmarshal(q.Body, &o); err != nil && len(q.Body) > 0 {
		return apierrors.NewBadRequest(err.Error())
	}
	p := s.pods[q.Name]
	switch {
	case p == nil:
		return apierrors.NewNotFound(podResource, q.Name)
	case o.Preconditions != nil && o.Preconditions.UID != nil && *o.Preconditions.UID != p.UID:
		return apierrors.NewConflict(podResource, q.Name, fmt.Errorf("the UID in the precondition does not match"))
	}
	grace := int64(30)
	if p.Spec.TerminationGracePeriodSeconds != nil {
		grace = *p.Spec.TerminationGracePeriodSeconds
	}
	if o.GracePeriodSeconds != nil {
		grace = *o.GracePeriodSeconds
	}
	r := s.running[string(p.UID)]
	if grace == 0 || p.Spec.NodeName == "" || p.Status.Phase == core.PodFailed || p.Status.Phase == core.PodSucceeded {
		s.put("DELETED", p)
		go r.Kill("")
		return p
	}
	next := p.DeepCopy()
	now := meta.Now()
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds = &now, &grace
	s.put("MODIFIED", next)
	go r.end(time.Duration(grace) * time.Second)
	return next
}

// watch reports changes from a version on.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, q Request) {
	flusher, is := w.(http.Flusher)
	if !is {
		return
	}
	query := r.URL.Query()
	match, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		reply(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	at, _ := strconv.Atoi(query.Get("resourceVersion"))
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	limit := time.After(max(time.Duration(seconds)*time.Second, 50*time.Millisecond))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher.Flush()
	out := json.NewEncoder(w)
	events := 0
	for {
		s.mu.Lock()
		wake, expired := s.wake, at < s.oldest
		var send []any
		if q.Resource == "events" {
			for _, e := range s.events[min(events, len(s.events)):] {
				send = append(send, frame("ADDED", e))
			}
			events = len(s.events)
		} else {
			for _, c := range s.history {
				if c.version > at && match.Matches(labels.Set(c.pod.Labels)) {
					send = append(send, frame(c.kind, c.pod))
				}
			}
			at = s.version
		}
		s.mu.Unlock()
		if expired && q.Resource == "pods" {
			_ = out.Encode(frame("ERROR", apierrors.NewResourceExpired("too old resource version").ErrStatus)) // the client may be gone
			return
		}
		for _, e := range send {
			if out.Encode(e) != nil {
				return
			}
		}
		flusher.Flush()
		select {
		case <-wake:
		case <-limit:
			return
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

func frame(kind string, object any) any {
	if status, is := object.(meta.Status); is {
		status.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Status"}
		object = status
	}
	return map[string]any{"type": kind, "object": object}
}

// Compact forgets the history: a watch from an earlier version is answered with 410.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.oldest = nil, s.version+1
	s.version++
	close(s.wake)
	s.wake = make(chan struct{})
}

// Event reports an event about a Pod.
func (s *Server) Event(p *core.Pod, reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.events = append(s.events, core.Event{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("%s.%d", p.Name, s.version), Namespace: Namespace,
			ResourceVersion: strconv.Itoa(s.version)},
		Reason: reason, Message: message, InvolvedObject: core.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID}})
	close(s.wake)
	s.wake = make(chan struct{})
}

// Pods returns the Pods that exist.
func (s *Server) Pods() (all []*core.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		all = append(all, p)
	}
	return all
}

// Most returns how many Pods existed at a time.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Vanish removes a Pod object without an end of its container, as when a node is deleted by hand.
func (s *Server) Vanish(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[name]; p != nil {
		s.put("DELETED", p)
	}
}

// Find returns what runs as a Pod; nil = nothing does.
func (s *Server) Find(name string) *Running {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[name]; p != nil {
		return s.running[string(p.UID)]
	}
	return nil
}
