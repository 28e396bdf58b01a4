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
// Read says what is there, Write makes it as the config wants it. All else
// follows: the schemas from the fields ([SchemaOf]), the answers VALID and
// STALE with their reasons from comparing what Read found with the config, the
// actions create, update and delete. What needs more says more, by one of the
// optional interfaces [Comparer], [Planner], [Actor] and [Watcher].
//
// The messages are here as types too, for those who would rather speak the
// protocol themselves: [InitInput], [InitAnswer], [StateInput], [StateAnswer],
// [ActionInput], [WorkerRequest], [WorkerReply],
// [WatchEvent].
package protocol
