package apply

import (
	"deployster/apply/turns"
	"deployster/plan"
	"deployster/protocol"
)

// enterBatch notes that a resource is in progress whose actions may come in a batch. The caller
// calls out.leaveBatch at the end of the attempt.
func (o *outcome) enterBatch(all *turns.Batches, step *plan.Step, c Confirm) {
	o.leaveBatch = func() {}
	if key := turns.BatchOf(step); key != "" && !o.again && c == ConfirmPlan {
		o.batchGroup, o.leaveBatch = key, all.Enter(key)
	}
}

// inBatch reports whether an action comes in a batch: one that its worker carries out.
func (o *outcome) inBatch(step *plan.Step, a protocol.Action) bool {
	return o.batchGroup != "" && step.Init.Batch.Takes(a.Name) && a.Image == "" && a.Entrypoint == ""
}
