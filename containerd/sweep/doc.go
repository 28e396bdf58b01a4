// Package sweep removes what dead clients have left, and saves how their actions
// ended for whoever adopts them. The labels on containers and the files of runs
// come in; outcomes go out. An action that may still run is never ended.
package sweep
