-- Writes the names of the highlighted parts of the file, a line for each of its lines: COLUMN:NAME.
local lines = {}
for l = 1, vim.fn.line("$") do
  local parts, last = {}, ""
  for c = 1, vim.fn.col({ l, "$" }) - 1 do
    local name = vim.fn.synIDattr(vim.fn.synID(l, c, 1), "name")
    if name ~= last and name ~= "" then
      table.insert(parts, c .. ":" .. name:gsub("^deployster", ""))
    end
    last = name
  end
  table.insert(lines, table.concat(parts, " "))
end
vim.fn.writefile(lines, "highlighted")
vim.cmd("qa!")
