module {
  tt.func public @row_sum_entry_point(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("row_sum.py":1:1), %o: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("row_sum.py":1:1), %stride: i32 {tt.divisibility = 16 : i32} loc("row_sum.py":1:1), %n: i32 loc("row_sum.py":1:1)) attributes {noinline = false} {
    %zero = arith.constant dense<0.0> : tensor<1024xf32> loc("row_sum.py":2:1)
    %row = tt.get_program_id x : i32 loc("row_sum.py":2:1)
    %first = arith.muli %row, %stride : i32 loc("row_sum.py":3:1)
    %base = tt.addptr %x, %first : !tt.ptr<f32>, i32 loc("row_sum.py":3:1)
    %cols = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc("row_sum.py":4:1)
    %ns = tt.splat %n : i32 -> tensor<1024xi32> loc("row_sum.py":4:1)
    %mask = arith.cmpi slt, %cols, %ns : tensor<1024xi32> loc("row_sum.py":4:1)
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc("row_sum.py":5:1)
    %at = tt.addptr %bases, %cols : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc("row_sum.py":5:1)
    %v = tt.load %at, %mask, %zero : tensor<1024x!tt.ptr<f32>> loc("row_sum.py":5:1)
    %e = math.exp %v : tensor<1024xf32> loc("row_sum.py":6:1)
    %sum = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%a: f32 loc("row_sum.py":6:1), %b: f32 loc("row_sum.py":6:1)):
      %s = arith.addf %a, %b : f32 loc("row_sum.py":6:1)
      tt.reduce.return %s : f32 loc("row_sum.py":6:1)
    }) : (tensor<1024xf32>) -> f32 loc("row_sum.py":6:1)
    %op = tt.addptr %o, %row : !tt.ptr<f32>, i32 loc("row_sum.py":7:1)
    tt.store %op, %sum : !tt.ptr<f32> loc("row_sum.py":7:1)
    tt.return loc("row_sum.py":8:1)
  } loc("row_sum.py":1:1)
} loc("row_sum.py":1:1)
