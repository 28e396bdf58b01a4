package conformance

import (
	"context"

	"deployster/internal/runtime/conformance/otherkinds"
	"deployster/internal/runtime/conformance/report"
	"deployster/protocol"
)

// otherThanType returns the check of a policy, and of an image that sends notifications or reads a secret; nil = it is a
// resource type.
func (i *image) otherThanType() (name string, check func(context.Context) outcome) {
	o := otherkinds.Image{Client: i.client(""), Recorder: i.recorder, Target: i.target, Type: i.ty, Config: i.o.Config,
		Timeout: i.o.Timeout, Learn: i.values.Add, Input: protocol.InitInput{Version: i.o.Version, Verbose: i.o.Verbose,
			Workspace: i.o.Workspace,
			Protocol:  protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion}}}
	verdict := func(run func(context.Context) otherkinds.Found) func(context.Context) outcome {
		return func(ctx context.Context) outcome {
			switch f := run(ctx); {
			case f.Err != nil:
				return failWith(f.Fix, f.Err)
			case f.Wrong != "":
				return fail(f.Fix, "%s", f.Wrong)
			default:
				return pass("%s", f.Remark)
			}
		}
	}
	switch {
	case i.ty.Policy != nil:
		return report.CheckPolicy, verdict(o.Judges)
	case i.ty.Notify != nil:
		return report.CheckNotify, verdict(o.Sends)
	case i.ty.Secret != nil:
		return report.CheckSecret, verdict(o.Reads)
	}
	return "", nil
}
