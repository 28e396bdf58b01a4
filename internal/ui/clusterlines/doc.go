// Package clusterlines has the lines of a plan about clusters: what they do not enforce of what machines
// do, once for each host and type, and which types cost a Pod for each query. A plan comes in, lines go out.
package clusterlines
