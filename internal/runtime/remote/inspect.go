package remote

import (
	"context"
	"errors"
)

// AgentVersion is the version of the messages between deployster-kube and deployster-pod: the
// Build of both. It is raised only when the messages change, since each version of the agent is
// an image that users push to their registries.
const AgentVersion = "agent 1"

// ClusterOS is HostFacts.OS of a host that is a namespace of a cluster.
const ClusterOS = "kubernetes"

// Namespace is what a namespace of a cluster enforces, for plans.
type Namespace struct {
	PodSecurity        string `json:"pod_security,omitempty"`         // the level that it enforces; "" = none
	PodSecurityVersion string `json:"pod_security_version,omitempty"` // of that level; "" = latest
}

// Inspection requests what a place reports about itself when its host is checked.
type Inspection struct {
	Start bool `json:"start,omitempty"` // start a container, and remove it
	Prune bool `json:"prune,omitempty"` // remove the containers of earlier commands that have ended
	All   bool `json:"all,omitempty"`   // count and prune those of all states, and not of the client's alone
	// Lineage is that of a state whose containers are pruned, and nothing else is inspected.
	Lineage string `json:"lineage,omitempty"`
}

// Found is the result of an Inspection.
type Found struct {
	Facts  []string `json:"facts,omitempty"`  // each a part of one line
	Notes  []string `json:"notes,omitempty"`  // each a line
	Ended  int      `json:"ended,omitempty"`  // containers of earlier commands that have ended and were not removed
	Pruned int      `json:"pruned,omitempty"` // containers that were removed
}

// Inspector is a Place that reports more about itself than its Welcome does.
type Inspector interface {
	Inspect(ctx context.Context, i Inspection) (Found, error)
}

// inspect requests it of a place.
func inspect(ctx context.Context, at Place, i Inspection) answer {
	where, is := at.(Inspector)
	if !is {
		return answer{Error: encodeError(errors.New("the host reports no more about itself"))}
	}
	found, err := where.Inspect(ctx, i)
	return answer{Found: &found, Error: encodeError(err)}
}

// Inspect requests what the host reports about itself when it is checked.
func (c *Client) Inspect(ctx context.Context, i Inspection) (Found, error) {
	a, err := c.ask(ctx, kindInspect, i, watchers{})
	if err != nil || a.Found == nil {
		return Found{}, err
	}
	return *a.Found, nil
}
