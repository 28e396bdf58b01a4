package artifacts

import (
	"context"
	"encoding/json"
	"fmt"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/artifacts"
	"deployster/protocol"
)

// fetched fetches what a put has led to, if the block has fetch, and returns the state of the publish. The end of the put is on
// record before, so that a fetch that fails or is killed is repeated without another put.
func (f *Client) fetched(ctx context.Context, t typeclient.Target, info artifact.Info, config json.RawMessage,
	out Published) (json.RawMessage, error) {
	r := f.publishes[t.Address]
	if r == nil || !r.Publish.Fetch || len(out.Version) == 0 {
		return encode(out)
	}
	// The recipe is that of the artifact, whose next version has its files with this.
	a := f.declared[r.Publish.Artifact]
	order := artifact.Order{Name: a.Name, Target: artifacts.Target(a, info.Digest), Recipe: artifact.NewRecipe(info, a.Settings,
		member(config, "source"), a.Params.Value, artifact.Versioned{Space: out.Space, Version: out.Version})}
	held, err := f.o.Store.Fetch(ctx, order)
	if err != nil {
		why := diag.From("Cannot get an artifact", err)[0]
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "What was published cannot be fetched", Address: t.Address,
			Action: artifact.StepGet, Detail: fmt.Sprintf("Version %s is published, and is not put again. %s: %s Correct what keeps it "+
				"from being fetched and plan again, or remove fetch from the block.", diag.Visible(artifact.Version(out.Version).String()),
				why.Summary, why.Detail)}
	}
	if out.Tree = held.Tree; len(out.Metadata) == 0 {
		out.Metadata = held.Metadata.Map()
	}
	return encode(out)
}

// stillFetched returns the recorded state of a publish, with what it has published fetched, if fetch was added to the block since.
func (f *Client) stillFetched(ctx context.Context, t typeclient.Target, in protocol.StateInput) (json.RawMessage, error) {
	r := f.publishes[t.Address]
	if r == nil || !r.Publish.Fetch {
		return in.LastState, nil
	}
	var was Published
	if err := json.Unmarshal(in.LastState, &was); err != nil || was.Tree != "" {
		return in.LastState, err
	}
	info, err := f.o.Client.Info(ctx, target(t))
	if err != nil {
		return nil, err
	}
	return f.fetched(ctx, t, info, in.Config, was)
}
