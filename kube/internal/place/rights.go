package place

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorization "k8s.io/api/authorization/v1"

	"deployster/kube/internal/podspec"
)

// right is something that the account of the client may do, and what is lost without it.
type right struct {
	group, resource, sub string
	verbs                []string
	named                func(p *Place) string // the only object that it is for; nil = all
	acts                 bool                  // only who acts needs it
	without              string                // a note; "" = nothing works without it
}

// rights returns the rights that a client needs, and those that give better reasons.
func (p *Place) rights() []right {
	list := []right{
		{resource: "pods", verbs: []string{"create", "get", "list", "watch", "delete"}},
		{resource: "pods", sub: "exec", verbs: []string{"create", "get"}},
		{group: "coordination.k8s.io", resource: "leases", acts: true, verbs: []string{"create", "get", "update"}},
		{resource: "namespaces", verbs: []string{"get"}, named: func(p *Place) string { return p.o.Cluster.Namespace }},
		{resource: "events", verbs: []string{"list", "watch"},
			without: "events may not be read: mount errors are shown without their reason"},
		{resource: "resourcequotas", verbs: []string{"list"}, without: "quotas may not be read: the number of Pods left is unknown"},
	}
	if p.o.Cluster.NetworkPolicy {
		list = append(list, right{group: "networking.k8s.io", resource: "networkpolicies", verbs: []string{"get"},
			named: func(*Place) string { return podspec.Policy }})
	}
	return list
}

// mayWork returns an error that names the rights that are missing, before anything is made: a Pod whose end could not be watched would be
// waited for. Just after its start an API server may not know yet who has which rights.
func (p *Place) mayWork(ctx context.Context, acts bool) error {
	needed := slices.DeleteFunc(p.rights(), func(r right) bool { return r.without != "" || r.acts && !acts })
	limit := time.Now().Add(min(firstPatience, p.o.API.Patience))
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		_, _, err := p.checkRights(ctx, needed)
		var missing *missingError
		switch {
		case !errors.As(err, &missing):
			return nil // what an account lacks that may not review its rights is found when it is needed
		case time.Now().Add(pause).After(limit):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// missingError names rights that are missing.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

// checkRights returns a *missingError that names all rights that are missing and needed, and notes about the others. quotas reports
// whether quotas may be read.
func (p *Place) checkRights(ctx context.Context, rights []right) (notes []string, quotas bool, err error) {
	lacks, errs := make([][]string, len(rights)), make([]error, len(rights))
	var all sync.WaitGroup
	for i, r := range rights {
		all.Go(func() { lacks[i], errs[i] = p.lacks(ctx, r) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, false, unreachable(err)
	}
	var missing []string
	for i, r := range rights {
		switch {
		case len(lacks[i]) > 0 && r.without != "":
			notes = append(notes, r.without)
		case len(lacks[i]) > 0:
			missing = append(missing, fmt.Sprintf("%s of %s", strings.Join(lacks[i], ", "), r.name()))
		case r.resource == "resourcequotas":
			quotas = true
		}
	}
	if len(missing) > 0 {
		return nil, false, &missingError{fmt.Sprintf("the account lacks rights in the namespace %s: %s", p.o.Cluster.Namespace,
			strings.Join(missing, "; "))}
	}
	return append([]string{"Pods may be created and exec'd"}, notes...), quotas, nil
}

func (r right) name() string {
	if r.sub != "" {
		return r.resource + "/" + r.sub
	}
	return r.resource
}

// lacks returns the verbs of a right that the account lacks.
func (p *Place) lacks(ctx context.Context, r right) (verbs []string, err error) {
	for _, verb := range r.verbs {
		a := authorization.ResourceAttributes{Verb: verb, Group: r.group, Resource: r.resource, Subresource: r.sub}
		if r.named != nil {
			a.Name = r.named(p)
		}
		may, _, err := p.o.API.May(ctx, a)
		if err != nil {
			return nil, err
		}
		if !may {
			verbs = append(verbs, verb)
		}
	}
	return verbs, nil
}
