# The public functions, for type checkers. Written by genindex.py.

from collections.abc import Sequence
from typing import TypeVar, overload

from teeny_kernels.elementwise.rounding import abs as abs
from teeny_kernels.elementwise.rounding import abs_backward as abs_backward
from teeny_kernels.elementwise.trigonometry import acos as acos
from teeny_kernels.elementwise.trigonometry import acos_backward as acos_backward
from teeny_kernels.elementwise.hyperbolic import acosh as acosh
from teeny_kernels.elementwise.hyperbolic import acosh_backward as acosh_backward
from teeny_kernels.optimizer.squares import adadelta_step as adadelta_step
from teeny_kernels.optimizer.squares import adagrad_step as adagrad_step
from teeny_kernels.optimizer.quantized import adam_8bit_step as adam_8bit_step
from teeny_kernels.optimizer.moments import adam_step as adam_step
from teeny_kernels.optimizer.moments import adamax_step as adamax_step
from teeny_kernels.optimizer.moments import adamw_step as adamw_step
from teeny_kernels.pooling.adaptive import adaptive_avg_pool1d as adaptive_avg_pool1d
from teeny_kernels.pooling.adaptive import adaptive_avg_pool1d_backward as adaptive_avg_pool1d_backward
from teeny_kernels.pooling.adaptive import adaptive_avg_pool2d as adaptive_avg_pool2d
from teeny_kernels.pooling.adaptive import adaptive_avg_pool2d_backward as adaptive_avg_pool2d_backward
from teeny_kernels.pooling.adaptive import adaptive_avg_pool3d as adaptive_avg_pool3d
from teeny_kernels.pooling.adaptive import adaptive_avg_pool3d_backward as adaptive_avg_pool3d_backward
from teeny_kernels.pooling.adaptive import adaptive_max_pool1d as adaptive_max_pool1d
from teeny_kernels.pooling.adaptive import adaptive_max_pool1d_backward as adaptive_max_pool1d_backward
from teeny_kernels.pooling.adaptive import adaptive_max_pool2d as adaptive_max_pool2d
from teeny_kernels.pooling.adaptive import adaptive_max_pool2d_backward as adaptive_max_pool2d_backward
from teeny_kernels.pooling.adaptive import adaptive_max_pool3d as adaptive_max_pool3d
from teeny_kernels.pooling.adaptive import adaptive_max_pool3d_backward as adaptive_max_pool3d_backward
from teeny_kernels.elementwise.arithmetic import add as add
from teeny_kernels.elementwise.arithmetic import add_backward as add_backward
from teeny_kernels.norm.added import add_rms_norm as add_rms_norm
from teeny_kernels.norm.added import add_rms_norm_backward as add_rms_norm_backward
from teeny_kernels.products.matmul import addmm as addmm
from teeny_kernels.products.matmul import addmm_backward as addmm_backward
from teeny_kernels.optimizer.descent import asgd_step as asgd_step
from teeny_kernels.elementwise.trigonometry import asin as asin
from teeny_kernels.elementwise.trigonometry import asin_backward as asin_backward
from teeny_kernels.elementwise.hyperbolic import asinh as asinh
from teeny_kernels.elementwise.hyperbolic import asinh_backward as asinh_backward
from teeny_kernels.elementwise.trigonometry import atan as atan
from teeny_kernels.elementwise.trigonometry import atan_backward as atan_backward
from teeny_kernels.elementwise.hyperbolic import atanh as atanh
from teeny_kernels.elementwise.hyperbolic import atanh_backward as atanh_backward
from teeny_kernels.pooling.average import avg_pool as avg_pool
from teeny_kernels.pooling.named import avg_pool1d as avg_pool1d
from teeny_kernels.pooling.named import avg_pool1d_backward as avg_pool1d_backward
from teeny_kernels.pooling.named import avg_pool2d as avg_pool2d
from teeny_kernels.pooling.named import avg_pool2d_backward as avg_pool2d_backward
from teeny_kernels.pooling.named import avg_pool3d as avg_pool3d
from teeny_kernels.pooling.named import avg_pool3d_backward as avg_pool3d_backward
from teeny_kernels.pooling.average import avg_pool_backward as avg_pool_backward
from teeny_kernels.pooling.average import avg_pool_reference as avg_pool_reference
from teeny_kernels.norm.channel import batch_norm as batch_norm
from teeny_kernels.norm.channel import batch_norm_backward as batch_norm_backward
from teeny_kernels.loss.probability import binary_cross_entropy as binary_cross_entropy
from teeny_kernels.loss.probability import binary_cross_entropy_backward as binary_cross_entropy_backward
from teeny_kernels.loss.probability import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from teeny_kernels.loss.probability import binary_cross_entropy_with_logits_backward as binary_cross_entropy_with_logits_backward
from teeny_kernels.products.matmul import bmm as bmm
from teeny_kernels.products.matmul import bmm_backward as bmm_backward
from teeny_kernels.elementwise.rounding import ceil as ceil
from teeny_kernels.elementwise.rounding import ceil_backward as ceil_backward
from teeny_kernels.activation.exponential import celu as celu
from teeny_kernels.activation.exponential import celu_backward as celu_backward
from teeny_kernels.padding.pad import circular_pad as circular_pad
from teeny_kernels.padding.pad import circular_pad_backward as circular_pad_backward
from teeny_kernels.elementwise.clip import clip as clip
from teeny_kernels.elementwise.clip import clip_backward as clip_backward
from teeny_kernels.padding.pad import constant_pad as constant_pad
from teeny_kernels.padding.pad import constant_pad_backward as constant_pad_backward
from teeny_kernels.convolution.convolve import conv1d as conv1d
from teeny_kernels.convolution.convolve import conv1d_backward as conv1d_backward
from teeny_kernels.convolution.convolve import conv2d as conv2d
from teeny_kernels.convolution.convolve import conv2d_backward as conv2d_backward
from teeny_kernels.convolution.fused import conv2d_batch_norm_silu as conv2d_batch_norm_silu
from teeny_kernels.convolution.convolve import conv3d as conv3d
from teeny_kernels.convolution.convolve import conv3d_backward as conv3d_backward
from teeny_kernels.convolution.transpose import conv_transpose1d as conv_transpose1d
from teeny_kernels.convolution.transpose import conv_transpose1d_backward as conv_transpose1d_backward
from teeny_kernels.convolution.transpose import conv_transpose2d as conv_transpose2d
from teeny_kernels.convolution.transpose import conv_transpose2d_backward as conv_transpose2d_backward
from teeny_kernels.convolution.transpose import conv_transpose3d as conv_transpose3d
from teeny_kernels.convolution.transpose import conv_transpose3d_backward as conv_transpose3d_backward
from teeny_kernels.elementwise.trigonometry import cos as cos
from teeny_kernels.elementwise.trigonometry import cos_backward as cos_backward
from teeny_kernels.elementwise.hyperbolic import cosh as cosh
from teeny_kernels.elementwise.hyperbolic import cosh_backward as cosh_backward
from teeny_kernels.loss.embedding import cosine_embedding_loss as cosine_embedding_loss
from teeny_kernels.loss.embedding import cosine_embedding_loss_backward as cosine_embedding_loss_backward
from teeny_kernels.loss.classes import cross_entropy as cross_entropy
from teeny_kernels.loss.classes import cross_entropy_backward as cross_entropy_backward
from teeny_kernels.elementwise.arithmetic import div as div
from teeny_kernels.elementwise.arithmetic import div_backward as div_backward
from teeny_kernels.activation.dropout import dropout as dropout
from teeny_kernels.activation.dropout import dropout_backward as dropout_backward
from teeny_kernels.elementwise.several import elementwise_mean as elementwise_mean
from teeny_kernels.elementwise.several import elementwise_mean_backward as elementwise_mean_backward
from teeny_kernels.elementwise.several import elementwise_sum as elementwise_sum
from teeny_kernels.elementwise.several import elementwise_sum_backward as elementwise_sum_backward
from teeny_kernels.activation.exponential import elu as elu
from teeny_kernels.activation.exponential import elu_backward as elu_backward
from teeny_kernels.tensor.embedding import embedding as embedding
from teeny_kernels.tensor.embedding import embedding_backward as embedding_backward
from teeny_kernels.elementwise.comparison import equal as equal
from teeny_kernels.elementwise.powers import erf as erf
from teeny_kernels.elementwise.powers import erf_backward as erf_backward
from teeny_kernels.elementwise.powers import exp as exp
from teeny_kernels.elementwise.powers import exp_backward as exp_backward
from teeny_kernels.attention.flash import flash_attention as flash_attention
from teeny_kernels.attention.flash import flash_attention_backward as flash_attention_backward
from teeny_kernels.attention.varlen import flash_attention_varlen as flash_attention_varlen
from teeny_kernels.attention.varlen import flash_attention_varlen_backward as flash_attention_varlen_backward
from teeny_kernels.tensor.join import flatten as flatten
from teeny_kernels.tensor.join import flatten_backward as flatten_backward
from teeny_kernels.elementwise.rounding import floor as floor
from teeny_kernels.elementwise.rounding import floor_backward as floor_backward
from teeny_kernels.elementwise.arithmetic import fmod as fmod
from teeny_kernels.elementwise.arithmetic import fmod_backward as fmod_backward
from teeny_kernels.activation.gated import gated as gated
from teeny_kernels.loss.probability import gaussian_nll_loss as gaussian_nll_loss
from teeny_kernels.loss.probability import gaussian_nll_loss_backward as gaussian_nll_loss_backward
from teeny_kernels.activation.gated import geglu as geglu
from teeny_kernels.activation.gated import geglu_backward as geglu_backward
from teeny_kernels.activation.gelu import gelu as gelu
from teeny_kernels.activation.gelu import gelu_backward as gelu_backward
from teeny_kernels.pooling.whole import global_avg_pool as global_avg_pool
from teeny_kernels.pooling.whole import global_avg_pool_backward as global_avg_pool_backward
from teeny_kernels.pooling.whole import global_avg_pool_reference as global_avg_pool_reference
from teeny_kernels.pooling.whole import global_max_pool as global_max_pool
from teeny_kernels.pooling.whole import global_max_pool_backward as global_max_pool_backward
from teeny_kernels.pooling.whole import global_max_pool_reference as global_max_pool_reference
from teeny_kernels.elementwise.comparison import greater as greater
from teeny_kernels.elementwise.comparison import greater_equal as greater_equal
from teeny_kernels.norm.channel import group_norm as group_norm
from teeny_kernels.norm.channel import group_norm_backward as group_norm_backward
from teeny_kernels.products.grouped import grouped_mm as grouped_mm
from teeny_kernels.products.grouped import grouped_mm_backward as grouped_mm_backward
from teeny_kernels.activation.piecewise import hardshrink as hardshrink
from teeny_kernels.activation.piecewise import hardshrink_backward as hardshrink_backward
from teeny_kernels.activation.piecewise import hardsigmoid as hardsigmoid
from teeny_kernels.activation.piecewise import hardsigmoid_backward as hardsigmoid_backward
from teeny_kernels.activation.piecewise import hardswish as hardswish
from teeny_kernels.activation.piecewise import hardswish_backward as hardswish_backward
from teeny_kernels.activation.piecewise import hardtanh as hardtanh
from teeny_kernels.activation.piecewise import hardtanh_backward as hardtanh_backward
from teeny_kernels.loss.margin import hinge_embedding_loss as hinge_embedding_loss
from teeny_kernels.loss.margin import hinge_embedding_loss_backward as hinge_embedding_loss_backward
from teeny_kernels.loss.distance import huber_loss as huber_loss
from teeny_kernels.loss.distance import huber_loss_backward as huber_loss_backward
from teeny_kernels.norm.channel import instance_norm as instance_norm
from teeny_kernels.norm.channel import instance_norm_backward as instance_norm_backward
from teeny_kernels.elementwise.rounding import isnan as isnan
from teeny_kernels.loss.probability import kl_div as kl_div
from teeny_kernels.loss.probability import kl_div_backward as kl_div_backward
from teeny_kernels.loss.distance import l1_loss as l1_loss
from teeny_kernels.loss.distance import l1_loss_backward as l1_loss_backward
from teeny_kernels.norm.layer import layer_norm as layer_norm
from teeny_kernels.norm.layer import layer_norm_backward as layer_norm_backward
from teeny_kernels.norm.layer import layer_norm_reference as layer_norm_reference
from teeny_kernels.activation.piecewise import leaky_relu as leaky_relu
from teeny_kernels.activation.piecewise import leaky_relu_backward as leaky_relu_backward
from teeny_kernels.elementwise.comparison import less as less
from teeny_kernels.elementwise.comparison import less_equal as less_equal
from teeny_kernels.products.linear import linear as linear
from teeny_kernels.products.linear import linear_activation as linear_activation
from teeny_kernels.products.linear import linear_activation_backward as linear_activation_backward
from teeny_kernels.products.linear import linear_backward as linear_backward
from teeny_kernels.loss.linear_classes import linear_cross_entropy as linear_cross_entropy
from teeny_kernels.loss.linear_classes import linear_cross_entropy_backward as linear_cross_entropy_backward
from teeny_kernels.optimizer.descent import lion_step as lion_step
from teeny_kernels.elementwise.powers import log as log
from teeny_kernels.elementwise.powers import log_backward as log_backward
from teeny_kernels.activation.softmax import log_softmax_reference as log_softmax_reference
from teeny_kernels.activation.exponential import logsigmoid as logsigmoid
from teeny_kernels.activation.exponential import logsigmoid_backward as logsigmoid_backward
from teeny_kernels.pooling.power import lp_pool as lp_pool
from teeny_kernels.pooling.named import lp_pool1d as lp_pool1d
from teeny_kernels.pooling.named import lp_pool1d_backward as lp_pool1d_backward
from teeny_kernels.pooling.named import lp_pool2d as lp_pool2d
from teeny_kernels.pooling.named import lp_pool2d_backward as lp_pool2d_backward
from teeny_kernels.pooling.named import lp_pool3d as lp_pool3d
from teeny_kernels.pooling.named import lp_pool3d_backward as lp_pool3d_backward
from teeny_kernels.pooling.power import lp_pool_backward as lp_pool_backward
from teeny_kernels.loss.margin import margin_ranking_loss as margin_ranking_loss
from teeny_kernels.loss.margin import margin_ranking_loss_backward as margin_ranking_loss_backward
from teeny_kernels.products.matmul import matmul as matmul
from teeny_kernels.products.matmul import matmul_backward as matmul_backward
from teeny_kernels.pooling.maximum import max_pool as max_pool
from teeny_kernels.pooling.named import max_pool1d as max_pool1d
from teeny_kernels.pooling.named import max_pool1d_backward as max_pool1d_backward
from teeny_kernels.pooling.named import max_pool2d as max_pool2d
from teeny_kernels.pooling.named import max_pool2d_backward as max_pool2d_backward
from teeny_kernels.pooling.named import max_pool3d as max_pool3d
from teeny_kernels.pooling.named import max_pool3d_backward as max_pool3d_backward
from teeny_kernels.pooling.maximum import max_pool_backward as max_pool_backward
from teeny_kernels.pooling.maximum import max_pool_reference as max_pool_reference
from teeny_kernels.elementwise.comparison import maximum as maximum
from teeny_kernels.elementwise.comparison import maximum_backward as maximum_backward
from teeny_kernels.elementwise.comparison import minimum as minimum
from teeny_kernels.elementwise.comparison import minimum_backward as minimum_backward
from teeny_kernels.activation.smooth import mish as mish
from teeny_kernels.activation.smooth import mish_backward as mish_backward
from teeny_kernels.loss.distance import mse_loss as mse_loss
from teeny_kernels.loss.distance import mse_loss_backward as mse_loss_backward
from teeny_kernels.elementwise.arithmetic import mul as mul
from teeny_kernels.elementwise.arithmetic import mul_backward as mul_backward
from teeny_kernels.loss.several import multi_margin_loss as multi_margin_loss
from teeny_kernels.loss.several import multi_margin_loss_backward as multi_margin_loss_backward
from teeny_kernels.loss.several import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from teeny_kernels.loss.several import multilabel_soft_margin_loss_backward as multilabel_soft_margin_loss_backward
from teeny_kernels.optimizer.muon import muon_step as muon_step
from teeny_kernels.optimizer.moments import nadam_step as nadam_step
from teeny_kernels.tensor.bias import nchw_bias_add as nchw_bias_add
from teeny_kernels.tensor.bias import nchw_bias_add_backward as nchw_bias_add_backward
from teeny_kernels.elementwise.rounding import neg as neg
from teeny_kernels.elementwise.rounding import neg_backward as neg_backward
from teeny_kernels.loss.classes import nll_loss as nll_loss
from teeny_kernels.loss.classes import nll_loss_backward as nll_loss_backward
from teeny_kernels.padding.pad import pad as pad
from teeny_kernels.padding.pad import pad_backward as pad_backward
from teeny_kernels.attention.paged import paged_attention as paged_attention
from teeny_kernels.loss.probability import poisson_nll_loss as poisson_nll_loss
from teeny_kernels.loss.probability import poisson_nll_loss_backward as poisson_nll_loss_backward
from teeny_kernels.elementwise.arithmetic import pow as pow
from teeny_kernels.elementwise.arithmetic import pow_backward as pow_backward
from teeny_kernels.activation.prelu import prelu as prelu
from teeny_kernels.activation.prelu import prelu_backward as prelu_backward
from teeny_kernels.products.quantized import quantized_linear as quantized_linear
from teeny_kernels.products.quantized import quantized_linear_backward as quantized_linear_backward
from teeny_kernels.optimizer.moments import radam_step as radam_step
from teeny_kernels.elementwise.powers import reciprocal as reciprocal
from teeny_kernels.elementwise.powers import reciprocal_backward as reciprocal_backward
from teeny_kernels.padding.pad import reflection_pad as reflection_pad
from teeny_kernels.padding.pad import reflection_pad_backward as reflection_pad_backward
from teeny_kernels.activation.piecewise import relu as relu
from teeny_kernels.activation.piecewise import relu6 as relu6
from teeny_kernels.activation.piecewise import relu6_backward as relu6_backward
from teeny_kernels.activation.piecewise import relu_backward as relu_backward
from teeny_kernels.padding.pad import replication_pad as replication_pad
from teeny_kernels.padding.pad import replication_pad_backward as replication_pad_backward
from teeny_kernels.norm.layer import rms_norm as rms_norm
from teeny_kernels.norm.layer import rms_norm_backward as rms_norm_backward
from teeny_kernels.norm.layer import rms_norm_reference as rms_norm_reference
from teeny_kernels.optimizer.squares import rmsprop_step as rmsprop_step
from teeny_kernels.optimizer.descent import rprop_step as rprop_step
from teeny_kernels.tensor.sampling import sample as sample
from teeny_kernels.products.quantized import scaled_matmul as scaled_matmul
from teeny_kernels.activation.exponential import selu as selu
from teeny_kernels.activation.exponential import selu_backward as selu_backward
from teeny_kernels.optimizer.descent import sgd_step as sgd_step
from teeny_kernels.activation.piecewise import shrink as shrink
from teeny_kernels.activation.piecewise import shrink_backward as shrink_backward
from teeny_kernels.activation.smooth import sigmoid as sigmoid
from teeny_kernels.activation.smooth import sigmoid_backward as sigmoid_backward
from teeny_kernels.elementwise.rounding import sign as sign
from teeny_kernels.elementwise.rounding import sign_backward as sign_backward
from teeny_kernels.activation.smooth import silu as silu
from teeny_kernels.activation.smooth import silu_backward as silu_backward
from teeny_kernels.elementwise.trigonometry import sin as sin
from teeny_kernels.elementwise.trigonometry import sin_backward as sin_backward
from teeny_kernels.elementwise.hyperbolic import sinh as sinh
from teeny_kernels.elementwise.hyperbolic import sinh_backward as sinh_backward
from teeny_kernels.loss.distance import smooth_l1_loss as smooth_l1_loss
from teeny_kernels.loss.distance import smooth_l1_loss_backward as smooth_l1_loss_backward
from teeny_kernels.loss.margin import soft_margin_loss as soft_margin_loss
from teeny_kernels.loss.margin import soft_margin_loss_backward as soft_margin_loss_backward
from teeny_kernels.activation.softmax import softmax_reference as softmax_reference
from teeny_kernels.activation.exponential import softplus as softplus
from teeny_kernels.activation.exponential import softplus_backward as softplus_backward
from teeny_kernels.activation.piecewise import softshrink as softshrink
from teeny_kernels.activation.piecewise import softshrink_backward as softshrink_backward
from teeny_kernels.activation.smooth import softsign as softsign
from teeny_kernels.activation.smooth import softsign_backward as softsign_backward
from teeny_kernels.elementwise.powers import sqrt as sqrt
from teeny_kernels.elementwise.powers import sqrt_backward as sqrt_backward
from teeny_kernels.elementwise.arithmetic import sub as sub
from teeny_kernels.elementwise.arithmetic import sub_backward as sub_backward
from teeny_kernels.reduce.sums import sum_to as sum_to
from teeny_kernels.reduce.sums import sum_to_backward as sum_to_backward
from teeny_kernels.activation.gated import swiglu as swiglu
from teeny_kernels.activation.gated import swiglu_backward as swiglu_backward
from teeny_kernels.activation.smooth import swish as swish
from teeny_kernels.activation.smooth import swish_backward as swish_backward
from teeny_kernels.elementwise.trigonometry import tan as tan
from teeny_kernels.elementwise.trigonometry import tan_backward as tan_backward
from teeny_kernels.activation.smooth import tanh as tanh
from teeny_kernels.activation.smooth import tanh_backward as tanh_backward
from teeny_kernels.activation.smooth import tanhshrink as tanhshrink
from teeny_kernels.activation.smooth import tanhshrink_backward as tanhshrink_backward
from teeny_kernels.activation.piecewise import threshold as threshold
from teeny_kernels.activation.piecewise import threshold_backward as threshold_backward
from teeny_kernels.activation.piecewise import thresholded_relu as thresholded_relu
from teeny_kernels.activation.piecewise import thresholded_relu_backward as thresholded_relu_backward
from teeny_kernels.loss.embedding import triplet_margin_loss as triplet_margin_loss
from teeny_kernels.loss.embedding import triplet_margin_loss_backward as triplet_margin_loss_backward
from teeny_kernels.tensor.upsample import upsample_nearest2d as upsample_nearest2d
from teeny_kernels.tensor.upsample import upsample_nearest2d_backward as upsample_nearest2d_backward
from teeny_kernels.tensor.upsample import upsample_nearest2d_reference as upsample_nearest2d_reference
from teeny_kernels.elementwise.several import where as where
from teeny_kernels.elementwise.several import where_backward as where_backward
from teeny_kernels.bundling import bundle_instances as bundle_instances
from teeny_kernels.reduce.run import Axes

A = TypeVar("A")

__version__: str
__all__ = [
    "__version__",
    "bundle_instances",
    "abs",
    "abs_backward",
    "acos",
    "acos_backward",
    "acosh",
    "acosh_backward",
    "adadelta_step",
    "adagrad_step",
    "adam_8bit_step",
    "adam_step",
    "adamax_step",
    "adamw_step",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool1d_backward",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_backward",
    "adaptive_avg_pool3d",
    "adaptive_avg_pool3d_backward",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_backward",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_backward",
    "add",
    "add_backward",
    "add_rms_norm",
    "add_rms_norm_backward",
    "addmm",
    "addmm_backward",
    "all",
    "any",
    "asgd_step",
    "asin",
    "asin_backward",
    "asinh",
    "asinh_backward",
    "atan",
    "atan_backward",
    "atanh",
    "atanh_backward",
    "avg_pool",
    "avg_pool1d",
    "avg_pool1d_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "avg_pool3d_backward",
    "avg_pool_backward",
    "avg_pool_reference",
    "batch_norm",
    "batch_norm_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_with_logits_backward",
    "bmm",
    "bmm_backward",
    "cat",
    "cat_backward",
    "ceil",
    "ceil_backward",
    "celu",
    "celu_backward",
    "channel_bias_add",
    "channel_bias_add_backward",
    "channel_cat",
    "channel_cat_backward",
    "channel_chunk",
    "channel_chunk_backward",
    "chunk",
    "chunk_backward",
    "circular_pad",
    "circular_pad_backward",
    "clip",
    "clip_backward",
    "constant_pad",
    "constant_pad_backward",
    "conv1d",
    "conv1d_backward",
    "conv2d",
    "conv2d_backward",
    "conv2d_batch_norm_silu",
    "conv3d",
    "conv3d_backward",
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
    "cos",
    "cos_backward",
    "cosh",
    "cosh_backward",
    "cosine_embedding_loss",
    "cosine_embedding_loss_backward",
    "cross_entropy",
    "cross_entropy_backward",
    "cumprod",
    "cumprod_backward",
    "cumsum",
    "cumsum_backward",
    "div",
    "div_backward",
    "dropout",
    "dropout_backward",
    "elementwise_mean",
    "elementwise_mean_backward",
    "elementwise_sum",
    "elementwise_sum_backward",
    "elu",
    "elu_backward",
    "embedding",
    "embedding_backward",
    "equal",
    "erf",
    "erf_backward",
    "exp",
    "exp_backward",
    "flash_attention",
    "flash_attention_backward",
    "flash_attention_varlen",
    "flash_attention_varlen_backward",
    "flatten",
    "flatten_backward",
    "floor",
    "floor_backward",
    "fmod",
    "fmod_backward",
    "gated",
    "gaussian_nll_loss",
    "gaussian_nll_loss_backward",
    "geglu",
    "geglu_backward",
    "gelu",
    "gelu_backward",
    "global_avg_pool",
    "global_avg_pool_backward",
    "global_avg_pool_reference",
    "global_max_pool",
    "global_max_pool_backward",
    "global_max_pool_reference",
    "greater",
    "greater_equal",
    "group_norm",
    "group_norm_backward",
    "grouped_mm",
    "grouped_mm_backward",
    "hardshrink",
    "hardshrink_backward",
    "hardsigmoid",
    "hardsigmoid_backward",
    "hardswish",
    "hardswish_backward",
    "hardtanh",
    "hardtanh_backward",
    "hinge_embedding_loss",
    "hinge_embedding_loss_backward",
    "huber_loss",
    "huber_loss_backward",
    "instance_norm",
    "instance_norm_backward",
    "isnan",
    "kl_div",
    "kl_div_backward",
    "l1_loss",
    "l1_loss_backward",
    "layer_norm",
    "layer_norm_backward",
    "layer_norm_reference",
    "leaky_relu",
    "leaky_relu_backward",
    "less",
    "less_equal",
    "linear",
    "linear_activation",
    "linear_activation_backward",
    "linear_backward",
    "linear_cross_entropy",
    "linear_cross_entropy_backward",
    "lion_step",
    "log",
    "log_backward",
    "log_softmax",
    "log_softmax_backward",
    "log_softmax_reference",
    "logsigmoid",
    "logsigmoid_backward",
    "lp_pool",
    "lp_pool1d",
    "lp_pool1d_backward",
    "lp_pool2d",
    "lp_pool2d_backward",
    "lp_pool3d",
    "lp_pool3d_backward",
    "lp_pool_backward",
    "margin_ranking_loss",
    "margin_ranking_loss_backward",
    "matmul",
    "matmul_backward",
    "max_pool",
    "max_pool1d",
    "max_pool1d_backward",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool3d",
    "max_pool3d_backward",
    "max_pool_backward",
    "max_pool_reference",
    "maximum",
    "maximum_backward",
    "minimum",
    "minimum_backward",
    "mish",
    "mish_backward",
    "mse_loss",
    "mse_loss_backward",
    "mul",
    "mul_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_soft_margin_loss",
    "multilabel_soft_margin_loss_backward",
    "muon_step",
    "nadam_step",
    "nchw_bias_add",
    "nchw_bias_add_backward",
    "neg",
    "neg_backward",
    "nll_loss",
    "nll_loss_backward",
    "pad",
    "pad_backward",
    "paged_attention",
    "poisson_nll_loss",
    "poisson_nll_loss_backward",
    "pow",
    "pow_backward",
    "prelu",
    "prelu_backward",
    "quantized_linear",
    "quantized_linear_backward",
    "radam_step",
    "reciprocal",
    "reciprocal_backward",
    "reduce_l1",
    "reduce_l1_backward",
    "reduce_l2",
    "reduce_l2_backward",
    "reduce_log_sum",
    "reduce_log_sum_backward",
    "reduce_log_sum_exp",
    "reduce_log_sum_exp_backward",
    "reduce_max",
    "reduce_max_backward",
    "reduce_mean",
    "reduce_mean_backward",
    "reduce_min",
    "reduce_min_backward",
    "reduce_prod",
    "reduce_prod_backward",
    "reduce_sum",
    "reduce_sum_backward",
    "reduce_sum_square",
    "reduce_sum_square_backward",
    "reflection_pad",
    "reflection_pad_backward",
    "relu",
    "relu6",
    "relu6_backward",
    "relu_backward",
    "replication_pad",
    "replication_pad_backward",
    "rms_norm",
    "rms_norm_backward",
    "rms_norm_reference",
    "rmsprop_step",
    "rope",
    "rope_backward",
    "rprop_step",
    "sample",
    "scaled_matmul",
    "selu",
    "selu_backward",
    "sgd_step",
    "shrink",
    "shrink_backward",
    "sigmoid",
    "sigmoid_backward",
    "sign",
    "sign_backward",
    "silu",
    "silu_backward",
    "sin",
    "sin_backward",
    "sinh",
    "sinh_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
    "softmax",
    "softmax_backward",
    "softmax_reference",
    "softplus",
    "softplus_backward",
    "softshrink",
    "softshrink_backward",
    "softsign",
    "softsign_backward",
    "sqrt",
    "sqrt_backward",
    "sub",
    "sub_backward",
    "sum_to",
    "sum_to_backward",
    "swiglu",
    "swiglu_backward",
    "swish",
    "swish_backward",
    "tan",
    "tan_backward",
    "tanh",
    "tanh_backward",
    "tanhshrink",
    "tanhshrink_backward",
    "threshold",
    "threshold_backward",
    "thresholded_relu",
    "thresholded_relu_backward",
    "topk",
    "topk_backward",
    "triplet_margin_loss",
    "triplet_margin_loss_backward",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "upsample_nearest2d_reference",
    "where",
    "where_backward",
]

@overload
def all(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def all(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def all(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def any(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def any(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def any(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def cat(arrays: Sequence[A], axis: int = 0, *, out: A | None = None) -> A: ...
@overload
def cat(arrays: Sequence[A], *, dim: int = 0, out: A | None = None) -> A: ...
@overload
def cat_backward(grad: A, arrays: Sequence[A], axis: int = 0) -> tuple[A, ...]: ...
@overload
def cat_backward(grad: A, arrays: Sequence[A], *, dim: int = 0) -> tuple[A, ...]: ...
@overload
def channel_bias_add(x: A, bias: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def channel_bias_add(x: A, bias: A, *, dim: int = -1, out: A | None = None) -> A: ...
@overload
def channel_bias_add_backward(grad: A, x: A, bias: A, axis: int = -1) -> tuple[A, A]: ...
@overload
def channel_bias_add_backward(grad: A, x: A, bias: A, *, dim: int = -1) -> tuple[A, A]: ...
@overload
def channel_cat(arrays: Sequence[A], axis: int = 1, *, out: A | None = None) -> A: ...
@overload
def channel_cat(arrays: Sequence[A], *, dim: int = 1, out: A | None = None) -> A: ...
@overload
def channel_cat_backward(grad: A, arrays: Sequence[A], axis: int = 1) -> tuple[A, ...]: ...
@overload
def channel_cat_backward(grad: A, arrays: Sequence[A], *, dim: int = 1) -> tuple[A, ...]: ...
@overload
def channel_chunk(x: A, chunks: int, axis: int = 1) -> tuple[A, ...]: ...
@overload
def channel_chunk(x: A, chunks: int, *, dim: int = 1) -> tuple[A, ...]: ...
@overload
def channel_chunk_backward(grads: Sequence[A], x: A, chunks: int, axis: int = 1) -> A: ...
@overload
def channel_chunk_backward(grads: Sequence[A], x: A, chunks: int, *, dim: int = 1) -> A: ...
@overload
def chunk(x: A, chunks: int, axis: int = 0) -> tuple[A, ...]: ...
@overload
def chunk(x: A, chunks: int, *, dim: int = 0) -> tuple[A, ...]: ...
@overload
def chunk_backward(grads: Sequence[A], x: A, chunks: int, axis: int = 0) -> A: ...
@overload
def chunk_backward(grads: Sequence[A], x: A, chunks: int, *, dim: int = 0) -> A: ...
@overload
def cumprod(x: A, axis: int, *, out: A | None = None) -> A: ...
@overload
def cumprod(x: A, *, dim: int, out: A | None = None) -> A: ...
@overload
def cumprod_backward(grad: A, x: A, axis: int, *, out: A | None = None) -> A: ...
@overload
def cumprod_backward(grad: A, x: A, *, dim: int, out: A | None = None) -> A: ...
@overload
def cumsum(x: A, axis: int, *, out: A | None = None) -> A: ...
@overload
def cumsum(x: A, *, dim: int, out: A | None = None) -> A: ...
@overload
def cumsum_backward(grad: A, axis: int, *, out: A | None = None) -> A: ...
@overload
def cumsum_backward(grad: A, *, dim: int, out: A | None = None) -> A: ...
@overload
def log_softmax(x: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def log_softmax(x: A, *, dim: int = -1, out: A | None = None) -> A: ...
@overload
def log_softmax_backward(grad: A, y: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def log_softmax_backward(grad: A, y: A, *, dim: int = -1, out: A | None = None) -> A: ...
@overload
def reduce_l1(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l1(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l1(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l1_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l1_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l1_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2_backward(grad: A, x: A, y: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_l2_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp_backward(grad: A, x: A, y: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_log_sum_exp_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max_backward(grad: A, x: A, y: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_max_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_mean_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min_backward(grad: A, x: A, y: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_min_backward(grad: A, x: A, y: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_prod_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square(x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square(x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square(x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square_backward(grad: A, x: A, axis: Axes = None, *, keepdims: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square_backward(grad: A, x: A, *, dim: Axes = None, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def reduce_sum_square_backward(grad: A, x: A, axis: Axes = None, *, keepdim: bool = False, out: A | None = None) -> A: ...
@overload
def rope(x: A, cos: A, sin: A, interleaved: bool = False, axis: int = 1, *, out: A | None = None) -> A: ...
@overload
def rope(x: A, cos: A, sin: A, interleaved: bool = False, *, dim: int = 1, out: A | None = None) -> A: ...
@overload
def rope_backward(grad: A, cos: A, sin: A, interleaved: bool = False, axis: int = 1, *, out: A | None = None) -> A: ...
@overload
def rope_backward(grad: A, cos: A, sin: A, interleaved: bool = False, *, dim: int = 1, out: A | None = None) -> A: ...
@overload
def softmax(x: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def softmax(x: A, *, dim: int = -1, out: A | None = None) -> A: ...
@overload
def softmax_backward(grad: A, y: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def softmax_backward(grad: A, y: A, *, dim: int = -1, out: A | None = None) -> A: ...
@overload
def topk(x: A, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> tuple[A, A]: ...
@overload
def topk(x: A, k: int, *, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[A, A]: ...
@overload
def topk_backward(grad: A, indices: A, x: A, axis: int = -1, *, out: A | None = None) -> A: ...
@overload
def topk_backward(grad: A, indices: A, x: A, *, dim: int = -1, out: A | None = None) -> A: ...
