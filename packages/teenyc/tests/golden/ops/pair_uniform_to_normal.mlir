// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// a, b = tl.pair_uniform_to_normal(tl.load(x_ptr), tl.load(x_ptr + 1))
// tl.store(out_ptr, a)
// tl.store(out_ptr + 1, b)
module {
  tt.func public @pair_uniform_to_normal_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %load = tt.load %x_ptr : !tt.ptr<f32>
    %constant = arith.constant 1 : i32
    %addptr = tt.addptr %x_ptr, %constant : !tt.ptr<f32>, i32
    %load_1 = tt.load %addptr : !tt.ptr<f32>
    %constant_1 = arith.constant 1.0000000116860974e-07 : f32
    %maxnumf = arith.maxnumf %constant_1, %load : f32
    %constant_2 = arith.constant 6.2831854820251465 : f32
    %mulf = arith.mulf %constant_2, %load_1 : f32
    %log = math.log %maxnumf : f32
    %constant_3 = arith.constant -2.0 : f32
    %mulf_1 = arith.mulf %constant_3, %log : f32
    %sqrt = math.sqrt %mulf_1 : f32
    %cos = math.cos %mulf : f32
    %a = arith.mulf %sqrt, %cos : f32
    %sin = math.sin %mulf : f32
    %b = arith.mulf %sqrt, %sin : f32
    tt.store %out_ptr, %a : !tt.ptr<f32>
    %constant_4 = arith.constant 1 : i32
    %addptr_1 = tt.addptr %out_ptr, %constant_4 : !tt.ptr<f32>, i32
    tt.store %addptr_1, %b : !tt.ptr<f32>
    tt.return
  }
}
