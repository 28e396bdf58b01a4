// Package protocol is the conversation between deployster and the image of a
// resource type: JSON on stdin, JSON on stdout. It depends on the standard
// library only, so that a type written in Go can import it.
//
// A type in Go is a struct with two methods, or three if it can remove what it
// made, given to [Serve]:
//
//	type Config struct {
//		Path string `json:"path" pattern:"^[a-z.]+$" doc:"name of the file"`
//		Text string `json:"text"`
//	}
//
//	type State struct {
//		Text string `json:"text"`
//	}
//
//	type note struct{}
//
//	func (note) Read(ctx context.Context, c *protocol.Call[Config, State]) (*State, error)
//	func (note) Write(ctx context.Context, c *protocol.Call[Config, State]) error
//	func (note) Delete(ctx context.Context, c *protocol.Call[Config, State]) error
//
//	func main() {
//		protocol.Serve(note{}, protocol.About{Label: "Note"})
//	}
//
// Read returns the real state, and Write makes the real object match the config.
// This package derives the rest: the schemas from the fields ([SchemaOf]), the
// answers VALID and STALE with their reasons from comparing what Read found with
// the config, and the actions create, update and delete. A type that needs more
// implements an optional interface: [Comparer], [Planner], [AbsencePlanner], [Actor],
// [Watcher], [Discoverer] or [Operator]. [ServeKinds] serves several types with one program.
//
// The package also exports the messages as types, for programs that speak the
// protocol without [Serve]: [InitInput], [InitAnswer], [StateInput],
// [StateAnswer], [ActionInput], [WorkerRequest], [WorkerReply], [WatchEvent].
package protocol
