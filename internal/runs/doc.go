// Package runs owns the records of what the tool did, for people who have to find
// out later. In come the invocations, the events and the report of a run while it
// goes on; out go runs and steps that are read again.
//
//	.deployster/runs/latest -> 20261121T035328.910Z-5f1c02
//	.deployster/runs/20261121T035328.910Z-5f1c02/run.json
//	                                             events.jsonl
//	                                             report.json
//	                                             RESOURCE/STEP/meta.json, stdin.json, stdout, stderr
//	                                             invocations.jsonl
//
// Nothing depends on records: that one cannot be written never fails a run.
package runs
