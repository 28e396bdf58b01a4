package fakeapi

import (
	"encoding/json"
	"strconv"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// lease carries out a request for a Lease.
func (s *Server) lease(q Request) any {
	group := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	var l coordination.Lease
	if q.Verb != "get" {
		if err := json.Unmarshal(q.Body, &l); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		q.Name = l.Name
	}
	there := s.leases[q.Name]
	switch {
	case q.Verb == "get" && there != nil:
		return there
	case q.Verb == "create" && there != nil:
		return apierrors.NewAlreadyExists(group, q.Name)
	case q.Verb == "create":
		s.uids++
		l.UID = types.UID("lease-" + strconv.Itoa(s.uids))
	case there == nil:
		return apierrors.NewNotFound(group, q.Name)
	case l.ResourceVersion != "" && l.ResourceVersion != there.ResourceVersion:
		return apierrors.NewConflict(group, q.Name, nil)
	case l.UID != there.UID:
		return apierrors.NewConflict(group, q.Name, nil)
	}
	s.version++
	l.ResourceVersion = strconv.Itoa(s.version)
	s.leases[q.Name] = &l
	return &l
}

// RemoveLeases removes all Leases, as a person may.
func (s *Server) RemoveLeases() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = map[string]*coordination.Lease{}
}

// Leases returns the names of all Leases.
func (s *Server) Leases() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.leases {
		names = append(names, name)
	}
	return names
}
