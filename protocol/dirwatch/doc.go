// Package dirwatch reports changes to files in directories, for types that watch
// files. All watches of a process share one inotify instance. A type whose objects
// are files needs no more than
//
//	var files dirwatch.Watcher
//
//	func (note) Watch(ctx context.Context, c *call, notify func(string)) error {
//		return files.Watch(ctx, "/notes/"+c.Config.Name, notify)
//	}
package dirwatch
