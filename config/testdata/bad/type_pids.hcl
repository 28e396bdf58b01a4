type "t" {
  image = "x"
  pids = 0.5
}
# error 3:10 Invalid pids
