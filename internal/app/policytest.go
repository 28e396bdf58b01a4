package app

import (
	"context"

	"deployster/internal/app/policy"
)

// TestPolicies has the policies of a directory judge the plans of its cases. It connects to the container runtime only if a
// policy has an image.
func (e *Engine) TestPolicies(ctx context.Context, dir string) ([]policy.Case, error) {
	judge := policy.Judge{Command: e.command}
	run, err := policy.Images(e.Workspace, dir)
	if err == nil && run {
		if judge.Machine, err = e.Machine(ctx); err == nil {
			judge.Places = judge.Machine.Places
		}
	}
	if err != nil {
		return nil, err
	}
	return judge.Test(ctx, dir)
}
