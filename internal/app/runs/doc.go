// Package runs owns the records of what deployster did, for people who read a run
// later. The invocations, the events and the report of a run come in while it continues;
// runs and steps go out when the records are read.
//
//	.deployster/runs/latest -> 20261121T035328.910Z-5f1c02
//	.deployster/runs/20261121T035328.910Z-5f1c02/run.json
//	                                             events.jsonl
//	                                             report.json
//	                                             RESOURCE/STEP/meta.json, stdin.json, stdout, stderr
//	                                             invocations.jsonl
//
// Nothing depends on records: a record that cannot be written never fails a run.
package runs
